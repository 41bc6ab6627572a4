import { z } from 'zod'
import { License, Path, Sha256 } from '../contract/shared.ts'
import { FrontMatterValue } from '../contract/skill.ts'

/*
 * What a commit delivers, by digest: all that the comparison of two commits needs except texts. A row depends on what is delivered alone, not
 * on where its bytes lie, so that equal rows mean that nothing changed.
 */

/** First half of a SHA-256, in hexadecimal digits: tells whether two values are the same. */
export const Digest = z.string().regex(/^[0-9a-f]{32}$/)
export type Digest = z.infer<typeof Digest>

const Bytes = z.int().min(0)

const Line = z.int().min(1)

/** Kinds of facts whose lists have a limit. */
export const FACT_KINDS = ['hidden', 'hosts', 'commands'] as const
export type FactKind = (typeof FACT_KINDS)[number]

/** Facts of a text that a reviewer looks for, each with the line of its file where it occurs first; a key is absent where there is nothing. */
export const DeliveredFacts = z.object({
  /** Hidden characters: name of the code point, and how many there are. By code point. */
  hidden: z.array(z.tuple([z.string(), z.int().min(1), Line])).optional(),
  /** Hosts of its http(s) links, in lower case; each once, in the order of the text. */
  hosts: z.array(z.tuple([z.string(), Line])).optional(),
  /** Commands as written, each once, in the order of the text. The beginning of one that is longer than `COMMAND_CHARACTERS`, with its digest. */
  commands: z.array(z.union([z.tuple([z.string(), Line]), z.tuple([z.string(), Line, Digest])])).optional(),
  /** The kinds that have more facts than `FACTS_PER_TEXT` or `FACTS_PER_SKILL` allow. */
  cut: z.array(z.enum(FACT_KINDS)).optional(),
})
export type DeliveredFacts = z.infer<typeof DeliveredFacts>

/** One text of a skill: the path of its file, and the digest and size of the text as it is delivered. */
export const DeliveredText = z.tuple([Path, Sha256, Bytes])
export type DeliveredText = z.infer<typeof DeliveredText>

/** Of a file: of its bytes, or `git:` and the beginning of its blob id where the bytes are not held, as of large and of most binary files. */
const FileDigest = z.string().regex(/^(?:git:)?[0-9a-f]{32}$/)

/**
 * A file of a skill: its path, its size, its digest, and 1 if it is executable. The digest is `null` where neither bytes nor blob id are known, as
 * of large files of a working folder that was not compared with a commit.
 */
export const DeliveredFile = z.tuple([Path, Bytes, FileDigest.nullable(), z.union([z.literal(0), z.literal(1)])])
export type DeliveredFile = z.infer<typeof DeliveredFile>

/** The `include` list of one file, as declared: the path of the file, and the digest of the list; `null` when it declares none. */
export const DeclaredInclude = z.tuple([Path, Digest.nullable()])
export type DeclaredInclude = z.infer<typeof DeclaredInclude>

/** A whole file, as it is served. */
export const DeliveredBytes = z.object({ sha256: Sha256, bytes: Bytes, tokens: z.int().min(0) })
export type DeliveredBytes = z.infer<typeof DeliveredBytes>

/** A listed skill. */
export const DeliveredSkill = z.object({
  kind: z.literal('skill'),
  directory: Path,
  name: z.string(),
  /** Of name, description, front matter and translations. */
  metadata: Digest,
  /** As listings say it. */
  description: z.string(),
  /** Of the description as it is written in the `SKILL.md`. */
  descriptionFacts: DeliveredFacts,
  allowedTools: FrontMatterValue.optional(),
  license: License,
  /** Absent when the license permits only a description. */
  full: z
    .object({
      /** Of all texts; absent when something is missing. */
      sha256: Sha256.optional(),
      bytes: Bytes,
      tokens: z.int().min(0),
      complete: z.boolean(),
      rules: z.array(DeliveredText),
      body: DeliveredText,
      includes: z.array(DeliveredText),
      files: z.array(DeliveredFile),
      /** Of each manifest above and of the `SKILL.md`: a list that begins or ends is a change of a file that both sides have. */
      declared: z.array(DeclaredInclude),
      /** Of the body. Those of rules and includes are rows of their own: many skills share them. */
      facts: DeliveredFacts,
      /** Of `files`, those with facts that are served. */
      fileFacts: z.array(z.tuple([Path, DeliveredFacts])),
    })
    .optional(),
})
export type DeliveredSkill = z.infer<typeof DeliveredSkill>

/** A listed document. */
export const DeliveredDocument = z.object({
  kind: z.literal('document'),
  title: z.string(),
  summary: Digest,
  license: License,
  /** Whether its license permits more than a description. */
  full: z.boolean(),
  /** The file; absent when it is not served. */
  file: DeliveredBytes.optional(),
  facts: DeliveredFacts,
})
export type DeliveredDocument = z.infer<typeof DeliveredDocument>

/** A manifest of an open folder: digests of what it declares. */
export const DeliveredManifest = z.object({
  kind: z.literal('manifest'),
  /** The text below its front matter; `null` when there is none, or when nothing delivers it. */
  rules: Digest.nullable(),
  include: Digest,
  exclude: Digest,
  license: Digest,
  /** All other fields. */
  metadata: Digest,
  /** The file; absent when it is not served. */
  file: DeliveredBytes.optional(),
})
export type DeliveredManifest = z.infer<typeof DeliveredManifest>

/** The facts of a text that skills deliver as rules or include. */
export const DeliveredTextFacts = z.object({ kind: z.literal('text'), facts: DeliveredFacts })
export type DeliveredTextFacts = z.infer<typeof DeliveredTextFacts>

/** `delivered`: see `itemKey`, `pageItemKey` and `textKey` for the keys. */
export const DeliveredRow = z.discriminatedUnion('kind', [
  DeliveredSkill,
  DeliveredDocument,
  DeliveredManifest,
  DeliveredTextFacts,
])
export type DeliveredRow = z.infer<typeof DeliveredRow>
export type DeliveredItem = DeliveredSkill | DeliveredDocument | DeliveredManifest
export type ItemKind = DeliveredItem['kind']

/** Key of an item: a listed skill, a listed document, a manifest. `itemKey('docs/')` is the prefix of all items below the folder `docs`. */
export function itemKey(path: string, kind?: ItemKind): string {
  return kind === undefined ? `item\0${path}` : `item\0${path}\0${kind}`
}

/** Key of a Markdown file of a skill, which is a document of the mounts inside that skill. `pageItemKey('docs/')` is the prefix of all those below `docs`. */
export function pageItemKey(path: string): string {
  return `page\0${path}`
}

/** Key of the facts of a text. A text without facts has no row. */
export function textKey(kind: 'rules' | 'includes', path: string): string {
  return `text\0${kind}\0${path}`
}

/** The path of an item or page, from its key. */
export function pathOfKey(key: string): string {
  return key.split('\0')[1] ?? ''
}
