import { type Address, formatAddress, parseAddress } from '#core/address.ts'
import { GateFull } from '#core/concurrency/fair-gate.ts'
import type { ApiClient, ApiError } from './api-client.ts'
import { loadDelivery, partsOf, readAnswers, type SkillPage } from './delivery.ts'
import { countHidden } from './hidden-characters.ts'
import { readAddress } from './read-address.ts'

/** The text that the tool `load_skill` sends for a page of a skill. */
export type SkillTextOf = (page: SkillPage, call: { address: string; path: string; cursor: string | undefined }) => string

/** A text to copy, with what the page says after it was copied. */
export type SentText = { ok: true; text: string; hidden: number } | { ok: false; status: number; error: ApiError }

const INDEXING: SentText = { ok: false, status: 503, error: { code: 'index.indexing', message: 'this commit is being indexed' } }

const BUSY_SECONDS = 5
const BUSY: SentText = {
  ok: false,
  status: 503,
  error: { code: 'mount.unavailable', message: 'too many texts are being read', retryAfter: BUSY_SECONDS },
}

/** For `catch`. */
export function busyIfFull(error: unknown): SentText {
  if (error instanceof GateFull) return BUSY
  throw error
}

/** The header of a refusal that says when to try again. */
export function retryAfterOf(sent: SentText): Record<string, string> {
  return sent.ok || sent.error.retryAfter === undefined ? {} : { 'retry-after': String(sent.error.retryAfter) }
}

const NOTHING: SentText = { ok: false, status: 404, error: { code: 'skill.not_found', message: 'this page has no such text' } }

/** The answers that make the whole text: 4 MiB. */
const ANSWERS_MOST = 256

/**
 * What a skill sends, byte for byte: all of it as `load_skill` sends it page by page, one text after the other, or a part of a page of the site.
 *
 * @param query of the page; `part` is the number of a text on it, from 0
 */
export async function loadSentText(
  { client, hosts, rawAddress, skillText }: Pick<App.Locals, 'client' | 'hosts' | 'rawAddress' | 'skillText'>,
  query: URLSearchParams,
): Promise<SentText> {
  const asked = readAddress(rawAddress, hosts)
  if ('error' in asked) return { ok: false, status: asked.status, error: asked.error }
  const path = query.get('path') ?? ''
  const part = query.get('part')
  if (part !== null) return await loadPart(client, asked.address, path, query, Number(part))
  if (skillText === null) return NOTHING
  const mount = await client.get('mounts', formatAddress(asked.address), {})
  if (!mount.ok) return mount
  // As the server of the address spells it.
  const address = formatAddress(parseAddress(mount.answer.address, hosts))
  const read = await readAnswers(client, address, path, undefined, ANSWERS_MOST)
  if (!('pages' in read)) return read.ok ? INDEXING : read
  if (read.pages[0]?.skill.serving.full !== true) return NOTHING
  const texts = read.pages.map((page, index) => {
    return skillText(page, { address, path, cursor: read.pages[index - 1]?.nextCursor ?? undefined })
  })
  return sent(texts.join('\n'))
}

async function loadPart(
  client: ApiClient,
  address: Address,
  path: string,
  query: URLSearchParams,
  at: number,
): Promise<SentText> {
  const page = query.get('page')
  const result = await loadDelivery(client, formatAddress(address), path, {
    page: page === 'all' ? 'all' : Number(page ?? 1) || 1,
    cursor: query.get('cursor') ?? undefined,
  })
  if (!result.ok) return result
  if (!('page' in result.answer)) return INDEXING
  const part = partsOf(result.answer)[at]
  return part === undefined ? NOTHING : sent(part.content)
}

function sent(text: string): SentText {
  return { ok: true, text, hidden: countHidden(text) }
}
