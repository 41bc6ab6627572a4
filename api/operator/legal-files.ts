import { z } from 'zod'
import { LEGAL_KINDS, type LegalDocument, type LegalKind } from '#core/contract/legal.ts'
import { LEGAL_FILE_BYTES } from '#core/limits.ts'
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
    title: z.string('must be text').trim().min(1, 'must not be empty').max(200, 'has more than 200 characters'),
    revised: z.iso.date('must be a date like 2026-11-24').nullable().default(null),
  },
  {
    error: ({ code }) => (code === 'unrecognized_keys' ? 'is not a known field (title, revised)' : 'must have a title'),
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
  if (kind === undefined || language === null)
    throw new FileFault(null, 'must be named terms.<language>.md or privacy.<language>.md')
  const text = (await files.readText(`${LEGAL_FOLDER}/${name}`, LEGAL_FILE_BYTES)) ?? ''
  const [whole, front] = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(text) ?? []
  if (whole === undefined || front === undefined) throw new FileFault(1, 'must begin with front matter that has a title')
  const body = text.slice(whole.length).trim()
  if (body === '') throw new FileFault(null, 'has no text below its front matter')
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
