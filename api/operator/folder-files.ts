import { createHash } from 'node:crypto'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { OPERATOR_FOLDER_BYTES } from '#core/limits.ts'
import { t } from '#words/t.ts'
import { type FormatProblem, pictureTypeOf, readPictureFormat, secondFormatOf } from './picture-format.ts'
import { NO_VIDEO, readVideoFormat } from './video-format.ts'
import { FileFault } from './yaml-file.ts'

/** A file that is served, named by its content. */
export interface FolderMedium extends MediaFormat {
  /** `<sha256>.<extension>` */
  name: string
  bytes: Uint8Array
}

/** The operator's folder while it is read. Links inside it are followed, links out of it lead to nothing. */
export interface FolderFiles {
  /**
   * A text; `null` when the name leads to no regular file inside the folder.
   *
   * @throws FileFault when it cannot be read, is larger than `maxBytes`, or is not UTF-8
   */
  readText(name: string, maxBytes: number): Promise<string | null>
  /** Names of the entries of a folder, sorted; empty when the folder does not exist. */
  list(folder: string): Promise<string[]>
  /** Takes a file as a medium. `problem` follows the name of the file. */
  takeMedium(name: string, maxBytes: number): Promise<FolderMedium | { problem: string }>
  /** All media that were taken, by name. */
  readonly media: ReadonlyMap<string, FolderMedium>
}

/** @param root real path */
export function openFolderFiles(root: string): FolderFiles {
  const media = new Map<string, FolderMedium>()
  let mediaBytes = 0
  return {
    media,
    async readText(name, maxBytes) {
      const bytes = await readFileInside(root, name, maxBytes)
      return bytes === null ? null : decode(bytes)
    },
    async list(folder) {
      const names = await readdir(join(root, folder)).catch(() => [])
      return names.filter(name => !name.startsWith('.')).sort()
    },
    async takeMedium(name, maxBytes) {
      try {
        const bytes = await readFileInside(root, name, maxBytes)
        if (bytes === null) return { problem: t('fault.noFile') }
        const format = readMediaFormat(bytes)
        if ('problem' in format) return format
        const medium = { ...format, name: `${createHash('sha256').update(bytes).digest('hex')}.${format.extension}`, bytes }
        if (!media.has(medium.name)) mediaBytes += bytes.length
        if (mediaBytes > OPERATOR_FOLDER_BYTES) return { problem: t('fault.mediaTooLarge', { limit: OPERATOR_FOLDER_BYTES }) }
        media.set(medium.name, medium)
        return medium
      } catch (error) {
        if (!(error instanceof FileFault)) throw error
        return { problem: error.message }
      }
    },
  }
}

/**
 * Reads a file; `null` when the name leads to no regular file inside the folder, or cannot be resolved.
 *
 * @throws FileFault when the file cannot be opened or is larger than `maxBytes`
 */
async function readFileInside(root: string, name: string, maxBytes: number): Promise<Uint8Array | null> {
  const path = name.includes('\0') ? null : await realpath(join(root, name)).catch(() => null)
  if (path === null || !path.startsWith(root.endsWith(sep) ? root : root + sep)) return null
  const found = await stat(path)
  if (!found.isFile()) return null
  const file = await open(path).catch(() => {
    throw new FileFault(null, t('fault.unreadable'))
  })
  try {
    // One byte more than permitted, or than there was, shows that the file is too large, or grows.
    const buffer = Buffer.alloc(Math.min(maxBytes, found.size) + 1)
    let length = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length)
      length += bytesRead
      if (bytesRead === 0 || length === buffer.length) break
    }
    if (length > maxBytes) throw new FileFault(null, t('fault.tooLarge', { limit: maxBytes }))
    return Uint8Array.from(buffer.subarray(0, length))
  } finally {
    await file.close()
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new FileFault(null, t('fault.notText'))
  }
}

/** A file that is served below `/media/`. */
interface MediaFormat {
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

/** It is neither a picture nor a clip. */
export const NO_MEDIUM: FormatProblem = { problem: t('fault.mediumForm') }

/** What a file is by its bytes, whatever its name says. */
export function readMediaFormat(bytes: Uint8Array): MediaFormat | FormatProblem {
  if (pictureTypeOf(bytes) !== null) {
    const picture = readPictureFormat(bytes)
    return 'problem' in picture ? picture : { ...picture, durationMs: null }
  }
  const video = readVideoFormat(bytes)
  if ('problem' in video) return video === NO_VIDEO ? NO_MEDIUM : video
  const second = secondFormatOf(bytes)
  return second === null ? video : { problem: t('fault.besidesClip', { what: second }) }
}
