import { pictureTypeOf } from '../operator/picture-format.ts'
import { createTaskProcess, type TaskOutcome, type TaskProcessOptions } from './task-process.ts'

/** Decodes and cuts pictures of strangers, in a process of its own. */
export interface Cutter {
  cut(task: CutTask): Promise<TaskOutcome<CutPicture>>
  close(): Promise<void>
}

export interface CutTask {
  bytes: Uint8Array
  /** Pixels. */
  width: number
  height: number
  /** `fill`: exactly this size, its edges cut off. `inside`: at most this size, and never larger than it is. */
  fit: 'fill' | 'inside'
  /** `same`: the type of the picture itself. */
  type: 'same' | 'png'
}

export interface CutPicture {
  type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  bytes: Uint8Array
  /** Pixels. */
  width: number
  height: number
}

export type CutterOptions = Partial<TaskProcessOptions>

/** A picture of the most pixels takes a second and some 150 MB. */
const DEFAULTS: TaskProcessOptions = {
  program: new URL('./cutter-main.ts', import.meta.url),
  memoryMegabytes: 384,
  taskMs: 5_000,
  maxWaiting: 64,
}

export function createCutter(options: CutterOptions = {}): Cutter {
  const process = createTaskProcess<CutTask, CutPicture>({ ...DEFAULTS, ...options })
  return {
    // What is no picture by its first bytes wakes no process.
    cut: async task => (pictureTypeOf(task.bytes) === null ? { status: 'refused' } : process.run(task)),
    close: () => process.close(),
  }
}
