import { access, constants, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { formatAddress } from '#core/address.ts'
import { SettingsError } from '#core/settings.ts'
import { faultOf } from '#core/words/faults.ts'
import { sentence } from '#core/words/sentence.ts'
import { FEATURED_FILE, readFeatured } from './featured-file.ts'
import { type FolderMedium, openFolderFiles } from './folder-files.ts'
import { joinLegalTexts, LEGAL_FOLDER, listLegal, readLegalFile } from './legal-files.ts'
import { NO_CONTENT, type OperatorContent } from './operator-content.ts'
import { listShowcase, readShowcaseFile, SHOWCASE_FOLDER } from './showcase-file.ts'
import { contentOf, type StoredContent } from './stored-content.ts'
import { FileFault } from './yaml-file.ts'

const SETTING = 'MOUNTGLASS_OPERATOR'

/** What a folder of the operator says, with the bytes of its media. */
export interface FolderContent {
  content: StoredContent
  media: ReadonlyMap<string, FolderMedium>
}

/** A fault of the folder: `<file>:<line>: <what is wrong>`, on one line. */
export type FolderFault = string

/**
 * Reads the folder of the operator's content, for a service that serves it from memory. Every file in it is optional.
 *
 * @param folder `null` without one
 * @param baseUrl public origin, without a slash at its end
 * @throws SettingsError with the file and the line of the first fault
 */
export async function readOperatorFolder(folder: string | null, baseUrl: string): Promise<OperatorContent> {
  if (folder === null) return NO_CONTENT
  const read = await validateFolder(folder).catch(cause => {
    throw new SettingsError(SETTING, sentence('asTold', { reason: cause as Error }), { cause })
  })
  if ('faults' in read) throw new SettingsError(SETTING, sentence('asTold', { reason: read.faults[0] ?? '' }))
  const bytesOf = (name: string) => read.media.get(name)?.bytes ?? new Uint8Array()
  return contentOf(
    read.content,
    baseUrl,
    name =>
      async function* ({ firstByte, lastByte }) {
        yield bytesOf(name).subarray(firstByte, lastByte + 1)
      },
  )
}

/** Reads and checks all of a folder. */
export async function validateFolder(folder: string): Promise<FolderContent | { faults: FolderFault[] }> {
  const root = await realpath(folder).catch(() => null)
  if (root === null || !(await stat(root)).isDirectory()) return { faults: [faultOf('noFolder', { folder })] }
  // Otherwise its files would seem to be absent, and the service would start without its legal pages.
  await access(root, constants.R_OK | constants.X_OK)
  const faults: FolderFault[] = []
  const files = openFolderFiles(root)
  const collect = async <Value>(file: string, read: () => Promise<Value>): Promise<Value | null> => {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof FileFault)) throw error
      for (const fault of [error, ...error.also]) faults.push(formatFault(join(folder, file), fault))
      return null
    }
  }
  const featured = (await collect(FEATURED_FILE, () => readFeatured(files))) ?? []
  const showcase: StoredContent['showcase'] = []
  for (const name of (await collect(SHOWCASE_FOLDER, () => listShowcase(files))) ?? []) {
    const entry = await collect(join(SHOWCASE_FOLDER, name), () => readShowcaseFile(files, name))
    if (entry) showcase.push(entry)
  }
  const legal = []
  for (const name of await listLegal(files)) {
    const text = await collect(join(LEGAL_FOLDER, name), () => readLegalFile(files, name))
    if (text) legal.push(text)
  }
  if (faults.length > 0) return { faults }
  const content: StoredContent = {
    version: 1,
    featured: featured.map(one => ({ ...one, address: formatAddress(one.address) })),
    showcase: showcase.sort((left, right) => left.position - right.position || (left.id < right.id ? -1 : 1)),
    legal: joinLegalTexts(legal),
    media: [...files.media.values()].map(({ name, type, bytes }) => ({ name, type, sizeBytes: bytes.length })),
  }
  return { content, media: files.media }
}

function formatFault(file: string, { line, message }: FileFault): FolderFault {
  // The message may quote the file, and has to stay on one line.
  return `${file}${line === null ? '' : `:${line}`}: ${message.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')}`
}
