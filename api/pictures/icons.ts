import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createFairGate, GateFull } from '#core/concurrency/fair-gate.ts'
import { memoryOfText } from '#core/memory.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import type { CutPicture, Cutter } from './cutter.ts'

/** The picture of an account, cut to `ICON_PIXELS` square. */
export interface Icon extends Pick<CutPicture, 'type' | 'bytes'> {
  /** Names the account, the size and the bytes; without quotes. */
  etag: string
}

/** An account with a picture at its host. */
export interface PicturedAccount {
  /** See `HostRepository.ownerId`. */
  id: string
  /** URL of its picture. */
  avatar: string
}

export const ICON_PIXELS = 128
/** The host is asked for this size, which a picture of a few kilobytes has. */
const DOWNLOAD_BYTES = 1024 * 1024
const KEPT_BYTES = 8 * 1024 * 1024
const KEPT_MS = 60 * 60 * 1000
/** A picture that could not be fetched or cut is tried again after this time. */
const MISSING_MS = 60 * 1000
const ENTRY_BYTES = 512
const FETCHES = { limit: 8, limitEach: 4, maxWaitingEach: 64, maxWaiting: 256 }

/** The icons of accounts, kept in memory for an hour. */
export interface Icons {
  /**
   * `null` when the account has no picture that can be shown now.
   *
   * @param client who asks: clients take turns
   */
  get(host: GitHost, account: PicturedAccount, client: string): Promise<Icon | null>
}

export function createIcons(cutter: Cutter): Icons {
  const inTurn = createFairGate(FETCHES)
  const cache = new LRUCache<string, { icon: Icon | null }, Parameters<Icons['get']>>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ icon }, key) => ENTRY_BYTES + memoryOfText(key) + (icon?.bytes.length ?? 0),
    ttl: KEPT_MS,
    // Callers that wait get their icon, also if others evict it first.
    ignoreFetchAbort: true,
    async fetchMethod(_key, _stale, { options, context: [host, account, client] }) {
      const icon = await inTurn(client, () => fetchIcon(host, account))
      if (icon === null) options.ttl = MISSING_MS
      return { icon }
    },
  })

  async function fetchIcon(host: GitHost, { id, avatar }: PicturedAccount): Promise<Icon | null> {
    const answer = await host.avatars?.fetch(avatar, ICON_PIXELS, DOWNLOAD_BYTES)
    if (answer?.status !== 'ok') return null
    const size = { width: ICON_PIXELS, height: ICON_PIXELS }
    const cut = await cutter.cut({ bytes: answer.value, ...size, fit: 'fill', type: 'same' })
    if (cut.status !== 'done') return null
    const { type, bytes } = cut.result
    return { type, bytes, etag: `${id}-${ICON_PIXELS}-${hash('sha256', bytes).slice(0, 16)}` }
  }

  return {
    async get(host, account, client) {
      const key = `${account.id} ${account.avatar}`
      const found = await cache.forceFetch(key, { context: [host, account, client] }).catch(nullIfFull)
      return found?.icon ?? null
    },
  }
}

/** Where too many wait, there is none now, which says nothing about the account. */
function nullIfFull(error: unknown): null {
  if (error instanceof GateFull) return null
  throw error
}
