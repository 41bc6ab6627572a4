import { z } from 'zod'
import { formatAddress } from '#core/address.ts'
import { MEDIA_SLOTS, type ShowcaseEntry, ShowcaseText } from '#core/contract/showcase.ts'
import { SHOWCASE_ENTRIES, SHOWCASE_FILE_BYTES, SHOWCASE_MEDIA_BYTES } from '#core/limits.ts'
import { faultOf } from '#core/words/faults.ts'
import { parseOperatorAddress } from './featured-file.ts'
import type { FolderFiles, FolderMedium } from './folder-files.ts'
import { canonicalTag } from './language-tag.ts'
import { FileFault, joinFaults, parseYamlFile, type YamlFile } from './yaml-file.ts'

export const SHOWCASE_FOLDER = 'showcase'

type Slot = 'poster' | (typeof MEDIA_SLOTS)[number]

const Words = z
  .string(faultOf('mustBeText'))
  .trim()
  .min(1, faultOf('empty'))
  .max(4_000, faultOf('tooManyCharacters', { max: '4,000' }))
const OptionalWords = Words.nullable().default(null)
const FileName = z.string(faultOf('fileName'))
const known = (fields: readonly string[], missing: 'needsWords' | 'needsPoster' | 'needsAll') => ({
  error: ({ code }: { code?: string | undefined }) =>
    code === 'unrecognized_keys' ? faultOf('unknownField', { fields: fields.join(', ') }) : faultOf(missing),
})

const TextFields = Object.keys(ShowcaseText.shape)
const EntryText = z.strictObject(
  {
    title: Words,
    body: Words,
    tags: z
      .array(Words, faultOf('wordList'))
      .max(20, faultOf('tooManyWords', { limit: 20 }))
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
    address: z.string(faultOf('addressForm')),
    position: z.int(faultOf('wholeNumber')),
    published: z.iso.datetime(faultOf('instant', { example: '2026-11-24T00:00:00Z' })).optional(),
    media: z.strictObject(
      { poster: FileName, ...Object.fromEntries(MEDIA_SLOTS.map(slot => [slot, FileName.optional()])) } as {
        poster: typeof FileName
      } & Record<(typeof MEDIA_SLOTS)[number], z.ZodOptional<typeof FileName>>,
      known(Slots, 'needsPoster'),
    ),
    texts: z.record(z.string(), EntryText, faultOf('needsTexts')),
  },
  known(['address', 'position', 'published', 'media', 'texts'], 'needsAll'),
)
type EntryFile = z.infer<typeof EntryFile>

/** The names of the files of entries, `<id>.yaml`. @throws FileFault when there are too many */
export async function listShowcase(files: FolderFiles): Promise<string[]> {
  const names = (await files.list(SHOWCASE_FOLDER)).filter(name => name.endsWith('.yaml'))
  if (names.length > SHOWCASE_ENTRIES) throw new FileFault(null, faultOf('tooManyEntries', { limit: SHOWCASE_ENTRIES }))
  return names
}

/** @param name as `listShowcase` gives it. @throws FileFault */
export async function readShowcaseFile(files: FolderFiles, name: string): Promise<ShowcaseEntry> {
  const id = /^([a-z0-9][a-z0-9-]{0,63})\.yaml$/.exec(name)?.[1]
  if (id === undefined) throw new FileFault(null, faultOf('entryName'))
  const text = await files.readText(`${SHOWCASE_FOLDER}/${name}`, SHOWCASE_FILE_BYTES)
  const { value, fault } = parseYamlFile(text ?? '', EntryFile)
  const faults: FileFault[] = []
  const address = orNull(faults, () => parseOperatorAddress(value.address, ['address'], fault))
  const media = await takeMedia(files, value, fault, faults)
  const texts = textsOf(value, fault, faults)
  if (media.clip && value.published === undefined) faults.push(fault(['media', 'clip'], `clip: ${faultOf('needsPublished')}`))
  const found = joinFaults(faults)
  if (found) throw found
  const { poster, clip } = media
  if (!poster || address === null) throw new FileFault(null, faultOf('notValid'))
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
      faults.push(fault(['media', slot], `${slot}: ${name} ${faultOf(KINDS[slot].otherwise)}`))
    else taken[slot] = medium
  }
  return taken
}

function textsOf({ texts }: EntryFile, fault: YamlFile<unknown>['fault'], faults: FileFault[]): ShowcaseEntry['texts'] {
  if (Object.keys(texts).length === 0) faults.push(fault(['texts'], `texts: ${faultOf('needsLanguage')}`))
  return Object.fromEntries(
    Object.entries(texts).map(([tag, text]) => {
      const canonical = canonicalTag(tag)
      if (canonical === null) faults.push(fault(['texts', tag], `texts: ${faultOf('languageTag', { tag })}`))
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
