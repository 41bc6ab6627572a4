import { faultOf } from '#core/words/faults.ts'
import { type FormatProblem, readPictureFormat, secondFormatOf } from './picture-format.ts'
import { pictureTypeOf } from './picture-type.ts'
import { readVideoFormat } from './video-format.ts'

/** A file that is served below `/media/`. */
export interface MediaFormat {
  /** Media type. */
  type: string
  /** Of its name. */
  extension: string
  /** Pixels. */
  width: number
  height: number
  /** Of a clip. */
  durationMs: number | null
}

/** What a file is by its bytes, whatever its name says. */
export function readMediaFormat(bytes: Uint8Array): MediaFormat | FormatProblem {
  if (pictureTypeOf(bytes) !== null) {
    const picture = readPictureFormat(bytes)
    return 'problem' in picture ? picture : { ...picture, durationMs: null }
  }
  const video = readVideoFormat(bytes)
  if ('problem' in video) return video.problem === faultOf('notClip') ? { problem: faultOf('mediumForm') } : video
  const second = secondFormatOf(bytes)
  return second === null ? video : { problem: faultOf('besidesClip', { what: second }) }
}
