import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { type Address, formatAddress } from '#core/address.ts'
import type { EndpointName } from '#core/contract/endpoints.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the answer is known to be one that bears a tag. */
    tagged: TaggedAnswer | null
  }
}

/** An answer that bears a tag. */
export interface TaggedAnswer {
  /** Of the endpoint. */
  name: EndpointName
  /** See `sourceOf`; `null` where only the bytes tell. */
  source: string | null
}

/** What decides an answer, beside the request: the mount, and the snapshot that is read. */
export interface AnswerSource {
  /** In the host's spelling. */
  address: Address
  repository: { id: string }
  commit: string
  snapshot: { indexedAt: Date }
  /** Of an answer that compares: the other side. */
  from?: { commit: string; snapshot: { indexedAt: Date } }
}

/** The client has the answer already: thrown before any of it is read. */
export class NotModified {
  readonly etag: string

  constructor(etag: string) {
    this.etag = etag
  }
}

/** Memory of the remembered tags. */
const REMEMBERED_BYTES = 4 * 1024 * 1024
const ENTRY_BYTES = 200

/**
 * Strong entity tags of answers: equal exactly when the bytes are equal. Remembers which tag an answer had that was made of the same snapshot by
 * the same request, so that a client that has it is told so without any of it being read.
 */
export class EntityTags {
  readonly #known = new LRUCache<string, string>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: (etag, key) => ENTRY_BYTES + 2 * (key.length + etag.length),
  })

  /**
   * Notes what the answer to a request will be made of.
   *
   * @throws NotModified
   */
  expect(request: FastifyRequest, name: EndpointName, made: AnswerSource): void {
    const source = sourceOf(made)
    request.tagged = { name, source }
    const etag = this.#known.get(keyOf(request, name, source))
    // The answer to HEAD tells the length of what GET sends, also where the client has it.
    if (etag !== undefined && request.method !== 'HEAD' && listsEtag(request.headers['if-none-match'], etag))
      throw new NotModified(etag)
  }

  /** Sets the tag of serialised bytes, and the status 304 where the client has them. @returns what is sent */
  tag(request: FastifyRequest, tagged: TaggedAnswer, reply: FastifyReply, bytes: string | Uint8Array): typeof bytes | null {
    const { name, source } = tagged
    const etag = entityTagOf(bytes)
    if (source !== null) this.#known.set(keyOf(request, name, source), etag)
    reply.header('etag', etag)
    if (!listsEtag(request.headers['if-none-match'], etag)) return bytes
    reply.code(304).removeHeader('content-type')
    // Fastify takes the length for HEAD from the bytes, and sends none of them.
    return request.method === 'HEAD' ? bytes : null
  }
}

function keyOf({ query }: FastifyRequest, name: EndpointName, source: string): string {
  return `${name} ${source} ${JSON.stringify(query)}`
}

/** A text that is equal for two answers to the same request exactly if they are made of the same. */
function sourceOf({ address, repository, commit, snapshot, from }: AnswerSource): string {
  const other = from === undefined ? '' : ` ${from.commit} ${from.snapshot.indexedAt.getTime()}`
  return `${repository.id} ${commit} ${snapshot.indexedAt.getTime()}${other} ${formatAddress(address)}`
}

/** Characters of a tag, 6 bits each: two answers never have the same by chance. */
const TAG_CHARACTERS = 27

function entityTagOf(bytes: string | Uint8Array): string {
  return `"${hash('sha256', bytes, 'base64url').slice(0, TAG_CHARACTERS)}"`
}

/** Whether `If-None-Match` names a tag. Strong and weak tags are compared by the same characters, as HTTP has it for reads. */
export function listsEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  // Most clients send the tag as it was given.
  if (header === etag) return true
  return header.trim() === '*' || header.split(',').some(item => opaque(item.trim()) === opaque(etag))
}

function opaque(etag: string): string {
  return etag.replace(/^W\//, '')
}
