import type { CallToolResult } from '@modelcontextprotocol/server'
import { LRUCache } from 'lru-cache'
import { formatAddress } from '#core/address.ts'
import { memoryOfEntry } from '#core/memory.ts'
import { type AnswerSource, sourceOf } from '../http/entity-tag.ts'
import { callTool, type ToolCall, type ToolHandlers } from './call-tool.ts'

/** The result of a successful call, its long parts as JSON. */
export interface WrittenResult {
  text: string
  structuredContent: string
  _meta: CallToolResult['_meta']
}

/** Memory of the results. */
const KEPT_BYTES = 16 * 1024 * 1024

/** Thrown to end a call before it reads anything. It is no `Error`, because recording a stack would take longer than the rest. */
const ENDED = Symbol('the result is kept')

/**
 * Keeps results of calls that anybody may make. Each call runs up to where its first read of the snapshot would begin, so visibility, the
 * operator's rules and the commit are decided as for every other. A result is found by what it was made of, which decides it: the snapshot, the
 * address and the arguments.
 */
export class KeptResults {
  readonly #kept = new LRUCache<string, WrittenResult>({
    maxSize: KEPT_BYTES,
    sizeCalculation: memoryOfEntry,
  })

  /** @throws as `callTool` */
  async call(handlers: ToolHandlers, call: ToolCall): Promise<WrittenResult> {
    if (call.viewer.kind !== 'anonymous') return write(await callTool(handlers, call))
    const made: { source?: AnswerSource; kept?: WrittenResult } = {}
    const onSource = (source: AnswerSource) => {
      made.source = source
      const kept = this.#kept.get(keyOf(call, source))
      if (kept === undefined) return
      made.kept = kept
      throw ENDED
    }
    try {
      const result = await callTool(handlers, { ...call, onSource })
      const written = write(result)
      if (made.source && isMadeOf(result, made.source)) this.#kept.set(keyOf(call, made.source), written)
      return written
    } catch (error) {
      if (error === ENDED && made.kept) return made.kept
      throw error
    }
  }
}

function write({ content: [block], structuredContent, _meta }: CallToolResult): WrittenResult {
  const text = block?.type === 'text' ? block.text : ''
  return { text: JSON.stringify(text), structuredContent: JSON.stringify(structuredContent), _meta }
}

/** Whether the result is one of contents, and of the commit that was opened last: a shorter page may have been read after the branch moved. */
function isMadeOf({ structuredContent }: CallToolResult, { commit }: AnswerSource): boolean {
  const { status = 'ready', commit: read } = structuredContent as { status?: string; commit: string }
  return status === 'ready' && read === commit
}

function keyOf({ tool, address, repeated }: ToolCall, source: AnswerSource): string {
  return `${tool.name} ${sourceOf(source)} ${formatAddress(address)} ${JSON.stringify(repeated)}`
}
