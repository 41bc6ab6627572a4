import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createFairGate, GateFull } from '#core/concurrency/fair-gate.ts'
import { memoryOfText } from '#core/memory.ts'
import type { CardModel } from './card.ts'
import { DRAWING_VERSION } from './card.ts'
import type { Icon } from './icons.ts'
import { createTaskProcess, type TaskOutcome, type TaskProcessOptions } from './task-process.ts'

/** A drawn card. */
export interface DrawnCard {
  png: Uint8Array
  /** Hash of everything that it shows; without quotes. */
  etag: string
}

/** Drawn cards, kept in memory by the hash of what they show: some 1,200 of them. */
export interface Cards {
  /**
   * @param icon picture of the owner
   * @param client who asks: clients take turns at the drawing
   * @returns `busy` when too many cards wait, or none can be drawn now
   */
  get(card: CardModel, icon: Icon | null, client: string): Promise<DrawnCard | 'busy'>
}

const KEPT_BYTES = 32 * 1024 * 1024
const ENTRY_BYTES = 256
/** One is drawn while the next is sent to the process. */
const DRAWINGS = { limit: 2, limitEach: 2, maxWaitingEach: 256, maxWaiting: 512 }

export function createCards(drawer: Drawer): Cards {
  const inTurn = createFairGate(DRAWINGS)
  const cache = new LRUCache<string, DrawnCard, Parameters<Cards['get']>>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ png }, key) => ENTRY_BYTES + memoryOfText(key) + png.length,
    // Callers that wait get their card, also if others evict it first.
    ignoreFetchAbort: true,
    async fetchMethod(etag, _stale, { context: [card, icon, client] }) {
      const png = await inTurn(client, () => draw(card, icon)).catch(nullIfFull)
      if (png === null) throw new NotDrawn()
      return { png, etag }
    },
  })

  async function draw(card: CardModel, icon: Icon | null): Promise<Uint8Array | null> {
    const drawn = await drawer.draw({ card, picture: icon?.bytes ?? null })
    if (drawn.status === 'done') return drawn.result
    if (drawn.status !== 'refused') return null
    // The words or the picture are more than the drawing can take: the address alone says where the link leads.
    const plain = await drawer.draw({ card: { ...card, title: card.plainTitle, description: null, lang: null }, picture: null })
    return plain.status === 'done' ? plain.result : null
  }

  return {
    async get(card, icon, client) {
      const etag = hash('sha256', JSON.stringify([DRAWING_VERSION, card, icon?.etag ?? null])).slice(0, 32)
      return await cache.forceFetch(etag, { context: [card, icon, client] }).catch(busyIfNotDrawn)
    },
  }
}

/** No card can be drawn now. It is thrown, since the cache makes a failure of its own of `undefined` where others evicted the entry meanwhile. */
class NotDrawn extends Error {}

function busyIfNotDrawn(error: unknown): 'busy' {
  if (error instanceof NotDrawn) return 'busy'
  throw error
}

function nullIfFull(error: unknown): null {
  if (error instanceof GateFull) return null
  throw error
}

/** Draws cards, in a process of its own: strangers write the texts, and fonts and shaping are native code. */
export interface Drawer {
  /** PNG of `CARD_WIDTH` by `CARD_HEIGHT`. */
  draw(task: DrawTask): Promise<TaskOutcome<Uint8Array>>
  close(): Promise<void>
}

export interface DrawTask {
  card: CardModel
  /** A picture that this service encoded; `null` for none. */
  picture: Uint8Array | null
}

export type DrawerOptions = Partial<TaskProcessOptions>

/** Fonts and their glyphs take up to 250 MB; the first card of a script some 100 ms, the next ones 15. */
const DEFAULTS: TaskProcessOptions = {
  program: new URL('./drawer-main.ts', import.meta.url),
  memoryMegabytes: 384,
  taskMs: 5_000,
  maxWaiting: 256,
}

export function createDrawer(options: DrawerOptions = {}): Drawer {
  const process = createTaskProcess<DrawTask, Uint8Array>({ ...DEFAULTS, ...options })
  return { draw: task => process.run(task), close: () => process.close() }
}
