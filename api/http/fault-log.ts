import { hash } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import { memoryOfEntry } from '#core/memory.ts'
import type { Metrics } from '#core/ports/metrics.ts'
import { framesOf } from '#core/scrubbed.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts and logs the faults of this service. */
    readonly faults: FaultLog
  }
}

/** Counts the faults of this program, and logs each: its stack once, then its message. */
export interface FaultLog {
  /** @param log of the request, which adds its id @param isHidden the message may name what the log may not: only where it arose is logged */
  note(log: FastifyBaseLogger, fault: unknown, { code, isHidden }: { code: string; isHidden: boolean }): void
}

/** Memory for the faults that were logged, by their stacks. A forgotten one is logged with its stack again. */
const LOGGED_BYTES = 4 * 1024 * 1024

export function createFaultLog(metrics: Pick<Metrics, 'record'>): FaultLog {
  const logged = new LRUCache<string, true>({ maxSize: LOGGED_BYTES, sizeCalculation: memoryOfEntry })
  return {
    note(log, fault, { code, isHidden }) {
      metrics.record('mountglass_faults_total', { error: classOf(fault) }, 1)
      const place = placeOf(fault)
      if (logged.get(place))
        return log.error(
          { code, fault: isHidden ? classOf(fault) : messageOf(fault) },
          'failed again; its stack was logged before',
        )
      logged.set(place, true)
      log.error({ code, err: isHidden ? framesOf(fault) : fault }, 'failed')
    },
  }
}

const CLASSES: ReadonlySet<string> = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'AssertionError'])

/** A label with few values: the name of an error class of the language, else `Error`. */
function classOf(fault: unknown): string {
  return fault instanceof Error && CLASSES.has(fault.name) ? fault.name : 'Error'
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? `${fault.name}: ${fault.message}` : String(fault)
}

/** Where the fault was thrown. Its message is left out, since it may quote a value. */
function placeOf(fault: unknown): string {
  const frames = framesOf(fault)
  return hash('sha256', frames.length > 0 ? frames.join('\n') : messageOf(fault))
}
