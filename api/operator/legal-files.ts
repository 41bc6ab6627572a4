import { z } from 'zod'
import { LEGAL_KINDS, type LegalDocument, type LegalKind } from '#core/contract/legal.ts'
import { LEGAL_FILE_BYTES } from '#core/limits.ts'
import { faultOf } from '#core/words/faults.ts'
import type { FolderFiles } from './folder-files.ts'
import { canonicalTag } from './language-tag.ts'
import { FileFault, parseYamlFile } from './yaml-file.ts'

export const LEGAL_FOLDER = 'legal'

/** One page in one language. */
export interface LegalText {
  kind: LegalKind
  language: string
  revised: string | null
  title: string
  body: string
}

const FrontMatter = z.strictObject(
  {
    title: z
      .string(faultOf('mustBeText'))
      .trim()
      .min(1, faultOf('empty'))
      .max(200, faultOf('tooManyCharacters', { max: 200 })),
    revised: z.iso
      .date(faultOf('date', { example: '2026-11-24' }))
      .nullable()
      .default(null),
  },
  {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? faultOf('unknownField', { fields: 'title, revised' }) : faultOf('needsTitle'),
  },
)

/** The names of the Markdown files of legal pages. */
export async function listLegal(files: FolderFiles): Promise<string[]> {
  return (await files.list(LEGAL_FOLDER)).filter(name => name.endsWith('.md'))
}

/** @param name `terms.<lang>.md`, `privacy.<lang>.md`. @throws FileFault */
export async function readLegalFile(files: FolderFiles, name: string): Promise<LegalText> {
  const [, kind, tag = ''] = /^(terms|privacy)\.([A-Za-z0-9-]+)\.md$/.exec(name) ?? []
  const language = canonicalTag(tag)
  if (kind === undefined || language === null) throw new FileFault(null, faultOf('legalName'))
  const text = (await files.readText(`${LEGAL_FOLDER}/${name}`, LEGAL_FILE_BYTES)) ?? ''
  const [whole, front] = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(text) ?? []
  if (whole === undefined || front === undefined) throw new FileFault(1, faultOf('frontMatter'))
  const body = text.slice(whole.length).trim()
  if (body === '') throw new FileFault(null, faultOf('noText'))
  // The line above the front matter counts, too.
  const { value } = parseYamlFile(`\n${front}`, FrontMatter)
  return { kind: kind as LegalKind, language, ...value, body: `${body}\n` }
}

/** The pages, each with its languages. */
export function joinLegalTexts(texts: readonly LegalText[]): LegalDocument[] {
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
