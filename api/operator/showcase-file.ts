import { z } from 'zod'
import { formatAddress } from '#core/address.ts'
import { MEDIA_SLOTS, type ShowcaseEntry, ShowcaseText } from '#core/contract/showcase.ts'
import { SHOWCASE_ENTRIES, SHOWCASE_FILE_BYTES, SHOWCASE_MEDIA_BYTES } from '#core/limits.ts'
import { parseOperatorAddress } from './featured-file.ts'
import type { FolderFiles, FolderMedium } from './folder-files.ts'
import { canonicalTag } from './language-tag.ts'
import { FileFault, joinFaults, parseYamlFile, type YamlFile } from './yaml-file.ts'

export const SHOWCASE_FOLDER = 'showcase'

type Slot = 'poster' | (typeof MEDIA_SLOTS)[number]

const Words = z.string('must be text').trim().min(1, 'must not be empty').max(4_000, 'has more than 4,000 characters')
const OptionalWords = Words.nullable().default(null)
const FileName = z.string('must be the name of a file in this folder')
const known = (fields: readonly string[], missing: string) => ({
  error: ({ code }: { code?: string | undefined }) =>
    code === 'unrecognized_keys' ? `is not a known field (${fields.join(', ')})` : missing,
})

const TextFields = Object.keys(ShowcaseText.shape)
const EntryText = z.strictObject(
  {
    title: Words,
    body: Words,
    tags: z.array(Words, 'must be a list of words').max(20, 'has more than 20 words').default([]),
    action: Words,
    requirement: OptionalWords,
    clip: OptionalWords,
    credit: OptionalWords,
    demo: OptionalWords,
  },
  known(TextFields, 'must have title, body and action'),
)

const Slots = ['poster', ...MEDIA_SLOTS] as const
const EntryFile = z.strictObject(
  {
    address: z.string('must be an address like /gh/acme/handbook'),
    position: z.int('must be a whole number'),
    published: z.iso.datetime('must be an instant like 2026-11-24T00:00:00Z').optional(),
    media: z.strictObject(
      { poster: FileName, ...Object.fromEntries(MEDIA_SLOTS.map(slot => [slot, FileName.optional()])) } as {
        poster: typeof FileName
      } & Record<(typeof MEDIA_SLOTS)[number], z.ZodOptional<typeof FileName>>,
      known(Slots, 'must have a poster'),
    ),
    texts: z.record(z.string(), EntryText, 'must have texts by language'),
  },
  known(['address', 'position', 'published', 'media', 'texts'], 'must have address, position, media and texts'),
)
type EntryFile = z.infer<typeof EntryFile>

/** The names of the files of entries, `<id>.yaml`. @throws FileFault when there are too many */
export async function listShowcase(files: FolderFiles): Promise<string[]> {
  const names = (await files.list(SHOWCASE_FOLDER)).filter(name => name.endsWith('.yaml'))
  if (names.length > SHOWCASE_ENTRIES) throw new FileFault(null, `has more than ${SHOWCASE_ENTRIES} entries`)
  return names
}

/** @param name as `listShowcase` gives it. @throws FileFault */
export async function readShowcaseFile(files: FolderFiles, name: string): Promise<ShowcaseEntry> {
  const id = /^([a-z0-9][a-z0-9-]{0,63})\.yaml$/.exec(name)?.[1]
  if (id === undefined) throw new FileFault(null, 'must be named by small letters, digits and hyphens')
  const text = await files.readText(`${SHOWCASE_FOLDER}/${name}`, SHOWCASE_FILE_BYTES)
  const { value, fault } = parseYamlFile(text ?? '', EntryFile)
  const faults: FileFault[] = []
  const address = orNull(faults, () => parseOperatorAddress(value.address, ['address'], fault))
  const media = await takeMedia(files, value, fault, faults)
  const texts = textsOf(value, fault, faults)
  if (media.clip && value.published === undefined)
    faults.push(fault(['media', 'clip'], 'clip: an entry with a clip needs published'))
  const found = joinFaults(faults)
  if (found) throw found
  const { poster, clip } = media
  if (!poster || address === null) throw new FileFault(null, 'is not valid')
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
const KINDS: Record<Slot, { pattern: RegExp; words: string }> = {
  poster: { pattern: /^image\//, words: 'a picture' },
  clip: { pattern: /^video\//, words: 'an MP4 or WebM clip' },
  animation: { pattern: /^image\/(?:gif|webp|png)$/, words: 'a GIF, WebP or PNG picture' },
  reference: { pattern: /^(?:image|video)\//, words: 'a picture or a clip' },
  picture: { pattern: /^image\//, words: 'a picture' },
  social: { pattern: /^image\//, words: 'a picture' },
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
      faults.push(fault(['media', slot], `${slot}: ${name} is not ${KINDS[slot].words}`))
    else taken[slot] = medium
  }
  return taken
}

function textsOf({ texts }: EntryFile, fault: YamlFile<unknown>['fault'], faults: FileFault[]): ShowcaseEntry['texts'] {
  if (Object.keys(texts).length === 0) faults.push(fault(['texts'], 'texts: must have at least one language'))
  return Object.fromEntries(
    Object.entries(texts).map(([tag, text]) => {
      const canonical = canonicalTag(tag)
      if (canonical === null) faults.push(fault(['texts', tag], `texts: ${tag} is not a language tag like en or pt-BR`))
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
