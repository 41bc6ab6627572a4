import type { CardModel } from './card.ts'
import { createTaskProcess, type TaskOutcome, type TaskProcessOptions } from './task-process.ts'

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
