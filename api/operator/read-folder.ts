import { access, constants, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { formatAddress } from '#core/address.ts'
import { LEGAL_KINDS, type LegalDocument, type LegalKind } from '#core/contract/legal.ts'
import { MEDIA_SLOTS, type ShowcaseEntry, ShowcaseText } from '#core/contract/showcase.ts'
import { LEGAL_FILE_BYTES, SHOWCASE_ENTRIES, SHOWCASE_FILE_BYTES, SHOWCASE_MEDIA_BYTES } from '#core/limits.ts'
import { SettingsError } from '#core/settings.ts'
import { t } from '#words/t.ts'

import { FEATURED_FILE, parseOperatorAddress, readFeatured } from './featured-file.ts'
import { type FolderFiles, type FolderMedium, openFolderFiles } from './folder-files.ts'
import { canonicalTag } from './language-tag.ts'
import { contentOf, NO_CONTENT, type OperatorContent, type StoredContent } from './operator-content.ts'
import { FileFault, joinFaults, parseYamlFile, type YamlFile } from './yaml-file.ts'

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
    throw new SettingsError(SETTING, t('problem.asTold', { reason: cause as Error }), { cause })
  })
  if ('faults' in read) throw new SettingsError(SETTING, t('problem.asTold', { reason: read.faults[0] ?? '' }))
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
  if (root === null || !(await stat(root)).isDirectory()) return { faults: [t('fault.noFolder', { folder })] }
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

const LEGAL_FOLDER = 'legal'

/** One page in one language. */
interface LegalText {
  kind: LegalKind
  language: string
  revised: string | null
  title: string
  body: string
}

const FrontMatter = z.strictObject(
  {
    title: z
      .string(t('fault.mustBeText'))
      .trim()
      .min(1, t('fault.empty'))
      .max(200, t('fault.tooManyCharacters', { max: 200 })),
    revised: z.iso
      .date(t('fault.date', { example: '2026-11-24' }))
      .nullable()
      .default(null),
  },
  {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? t('fault.unknownField', { fields: 'title, revised' }) : t('fault.needsTitle'),
  },
)

/** The names of the Markdown files of legal pages. */
async function listLegal(files: FolderFiles): Promise<string[]> {
  return (await files.list(LEGAL_FOLDER)).filter(name => name.endsWith('.md'))
}

/** @param name `terms.<lang>.md`, `privacy.<lang>.md`. @throws FileFault */
async function readLegalFile(files: FolderFiles, name: string): Promise<LegalText> {
  const [, kind, tag = ''] = /^(terms|privacy)\.([A-Za-z0-9-]+)\.md$/.exec(name) ?? []
  const language = canonicalTag(tag)
  if (kind === undefined || language === null) throw new FileFault(null, t('fault.legalName'))
  const text = (await files.readText(`${LEGAL_FOLDER}/${name}`, LEGAL_FILE_BYTES)) ?? ''
  const [whole, front] = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(text) ?? []
  if (whole === undefined || front === undefined) throw new FileFault(1, t('fault.frontMatter'))
  const body = text.slice(whole.length).trim()
  if (body === '') throw new FileFault(null, t('fault.noText'))
  // The line above the front matter counts, too.
  const { value } = parseYamlFile(`\n${front}`, FrontMatter)
  return { kind: kind as LegalKind, language, ...value, body: `${body}\n` }
}

/** The pages, each with its languages. */
function joinLegalTexts(texts: readonly LegalText[]): LegalDocument[] {
  return LEGAL_KINDS.flatMap(kind => {
    const own = texts.filter(text => text.kind === kind)
    if (own.length === 0) return []
    const revised =
      own
        .flatMap(text => (text.revised === null ? [] : [text.revised]))
        .sort()
        .at(-1) ?? null
    return [{ kind, revised, texts: Object.fromEntries(own.map(({ language, title, body }) => [language, { title, body }])) }]
  })
}

const SHOWCASE_FOLDER = 'showcase'

type Slot = 'poster' | (typeof MEDIA_SLOTS)[number]

const Words = z
  .string(t('fault.mustBeText'))
  .trim()
  .min(1, t('fault.empty'))
  .max(4_000, t('fault.tooManyCharacters', { max: '4,000' }))
const OptionalWords = Words.nullable().default(null)
const FileName = z.string(t('fault.fileName'))
const known = (fields: readonly string[], missing: 'needsWords' | 'needsPoster' | 'needsAll') => ({
  error: ({ code }: { code?: string | undefined }) =>
    code === 'unrecognized_keys' ? t('fault.unknownField', { fields: fields.join(', ') }) : t(`fault.${missing}`),
})

const TextFields = Object.keys(ShowcaseText.shape)
const EntryText = z.strictObject(
  {
    title: Words,
    body: Words,
    tags: z
      .array(Words, t('fault.wordList'))
      .max(20, t('fault.tooManyWords', { limit: 20 }))
      .default([]),
    action: Words,
    requirement: OptionalWords,
    clip: OptionalWords,
    credit: OptionalWords,
    demo: OptionalWords,
  },
  known(TextFields, 'needsWords'),
)

const Slots = ['poster', ...MEDIA_SLOTS] as const
const EntryFile = z.strictObject(
  {
    address: z.string(t('fault.addressForm')),
    position: z.int(t('fault.wholeNumber')),
    published: z.iso.datetime(t('fault.instant', { example: '2026-11-24T00:00:00Z' })).optional(),
    media: z.strictObject(
      { poster: FileName, ...Object.fromEntries(MEDIA_SLOTS.map(slot => [slot, FileName.optional()])) } as {
        poster: typeof FileName
      } & Record<(typeof MEDIA_SLOTS)[number], z.ZodOptional<typeof FileName>>,
      known(Slots, 'needsPoster'),
    ),
    texts: z.record(z.string(), EntryText, t('fault.needsTexts')),
  },
  known(['address', 'position', 'published', 'media', 'texts'], 'needsAll'),
)
type EntryFile = z.infer<typeof EntryFile>

/** The names of the files of entries, `<id>.yaml`. @throws FileFault when there are too many */
async function listShowcase(files: FolderFiles): Promise<string[]> {
  const names = (await files.list(SHOWCASE_FOLDER)).filter(name => name.endsWith('.yaml'))
  if (names.length > SHOWCASE_ENTRIES) throw new FileFault(null, t('fault.tooManyEntries', { limit: SHOWCASE_ENTRIES }))
  return names
}

/** @param name as `listShowcase` gives it. @throws FileFault */
async function readShowcaseFile(files: FolderFiles, name: string): Promise<ShowcaseEntry> {
  const id = /^([a-z0-9][a-z0-9-]{0,63})\.yaml$/.exec(name)?.[1]
  if (id === undefined) throw new FileFault(null, t('fault.entryName'))
  const text = await files.readText(`${SHOWCASE_FOLDER}/${name}`, SHOWCASE_FILE_BYTES)
  const { value, fault } = parseYamlFile(text ?? '', EntryFile)
  const faults: FileFault[] = []
  const address = orNull(faults, () => parseOperatorAddress(value.address, ['address'], fault))
  const media = await takeMedia(files, value, fault, faults)
  const texts = textsOf(value, fault, faults)
  if (media.clip && value.published === undefined) faults.push(fault(['media', 'clip'], `clip: ${t('fault.needsPublished')}`))
  const found = joinFaults(faults)
  if (found) throw found
  const { poster, clip } = media
  if (!poster || address === null) throw new FileFault(null, t('fault.notValid'))
  const frame = clip ?? poster
  return {
    id,
    address: formatAddress(address),
    position: value.position,
    width: frame.width,
    height: frame.height,
    durationMs: clip?.durationMs ?? null,
    published: clip ? new Date(value.published ?? 0).toISOString().replace(/\.000Z$/, 'Z') : null,
    media: {
      poster: linkTo(poster),
      clip: orNone(clip),
      animation: orNone(media.animation),
      reference: orNone(media.reference),
      picture: orNone(media.picture),
      social: orNone(media.social),
    },
    texts,
  }
}

/** What the files of each slot may be. */
const KINDS: Record<Slot, { pattern: RegExp; otherwise: 'notPicture' | 'notClip' | 'notAnimation' | 'notPictureOrClip' }> = {
  poster: { pattern: /^image\//, otherwise: 'notPicture' },
  clip: { pattern: /^video\//, otherwise: 'notClip' },
  animation: { pattern: /^image\/(?:gif|webp|png)$/, otherwise: 'notAnimation' },
  reference: { pattern: /^(?:image|video)\//, otherwise: 'notPictureOrClip' },
  picture: { pattern: /^image\//, otherwise: 'notPicture' },
  social: { pattern: /^image\//, otherwise: 'notPicture' },
}

async function takeMedia(
  files: FolderFiles,
  { media }: EntryFile,
  fault: YamlFile<unknown>['fault'],
  faults: FileFault[],
): Promise<Partial<Record<Slot, FolderMedium>>> {
  const taken: Partial<Record<Slot, FolderMedium>> = {}
  for (const slot of Slots) {
    const name = media[slot]
    if (name === undefined) continue
    const medium = await files.takeMedium(`${SHOWCASE_FOLDER}/${name}`, SHOWCASE_MEDIA_BYTES)
    if ('problem' in medium) faults.push(fault(['media', slot], `${slot}: ${name} ${medium.problem}`))
    else if (!KINDS[slot].pattern.test(medium.type))
      faults.push(fault(['media', slot], `${slot}: ${name} ${t(`fault.${KINDS[slot].otherwise}`)}`))
    else taken[slot] = medium
  }
  return taken
}

function textsOf({ texts }: EntryFile, fault: YamlFile<unknown>['fault'], faults: FileFault[]): ShowcaseEntry['texts'] {
  if (Object.keys(texts).length === 0) faults.push(fault(['texts'], `texts: ${t('fault.needsLanguage')}`))
  return Object.fromEntries(
    Object.entries(texts).map(([tag, text]) => {
      const canonical = canonicalTag(tag)
      if (canonical === null) faults.push(fault(['texts', tag], `texts: ${t('fault.languageTag', { tag })}`))
      return [canonical ?? tag, text]
    }),
  )
}

function orNull<Value>(faults: FileFault[], parse: () => Value): Value | null {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    faults.push(error)
    return null
  }
}

function orNone(medium: FolderMedium | undefined): { url: string; type: string } | null {
  return medium === undefined ? null : linkTo(medium)
}

function linkTo({ name, type }: FolderMedium): { url: string; type: string } {
  return { url: `/media/${name}`, type }
}
