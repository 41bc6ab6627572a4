import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { LRUCache } from 'lru-cache'
import type { Address } from '#core/address.ts'
import { memoryOfEntry } from '#core/memory.ts'
import type { Viewer } from '../people/viewer.ts'

/** What the SDK answered, completed. */
export interface SdkAnswer {
  status: number
  headers: readonly (readonly [name: string, value: string])[]
  body: string | Readable | null
}

/** All that the SDK's answer to a request for the list of tools is made of. */
export interface ListRequest {
  message: Readonly<Record<string, unknown>>
  /** Those that the SDK reads. */
  headers: IncomingHttpHeaders
  viewer: Viewer
  address: Address | null
}

export const LIST_TOOLS = 'tools/list'

/** Memory of the answers: some fifty. Clients of one kind send the same message. */
const KEPT_BYTES = 4 * 1024 * 1024
/** A key that a client of the SDK makes has some hundreds. Much longer ones would drive the others out. */
const KEY_CHARACTERS = 8192

/** A good answer, around the id of its message. */
interface KeptAnswer {
  headers: SdkAnswer['headers']
  before: string
  after: string
}

/**
 * Keeps what the SDK answered to requests for the list of tools. The same message in the same headers is answered the same, but for its id, so the
 * SDK checks and answers it once. Whether the address may be read is decided before, for every request.
 */
export class KeptLists {
  readonly #kept = new LRUCache<string, KeptAnswer>({ maxSize: KEPT_BYTES, sizeCalculation: memoryOfEntry })

  /** @param ask has the SDK answer */
  async answer({ message, headers, viewer, address }: ListRequest, ask: () => Promise<SdkAnswer>): Promise<SdkAnswer> {
    const { id, ...rest } = message
    // Those that every revision takes. What is wrong with others, the SDK says.
    if (typeof id !== 'string' && !Number.isSafeInteger(id)) return await ask()
    const key = keyOf([rest, headers, viewer.kind, address === null])
    if (key === null) return await ask()
    const kept = this.#kept.get(key)
    if (kept) return { status: 200, headers: kept.headers, body: kept.before + JSON.stringify(id) + kept.after }
    const answer = await ask()
    const around = answer.status === 200 && typeof answer.body === 'string' ? splitAtId(answer.body, id) : null
    if (around) this.#kept.set(key, { headers: answer.headers, ...around })
    return answer
  }
}

/** `null`: it is too long, or too deep to be written as a text. */
function keyOf(question: readonly unknown[]): string | null {
  try {
    const key = JSON.stringify(question)
    return key.length <= KEY_CHARACTERS ? key : null
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** The text around the id at the end of an answer; `null` where it ends otherwise. */
function splitAtId(body: string, id: unknown): { before: string; after: string } | null {
  const text = JSON.stringify(id)
  const end = `,"id":${text}}`
  const at = body.lastIndexOf(end)
  const afterEnd = body.slice(at + end.length)
  if (at < 0 || afterEnd.trim() !== '') return null
  return { before: body.slice(0, at + end.length - text.length - 1), after: `}${afterEnd}` }
}
