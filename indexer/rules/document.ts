import { estimateTokens } from '#core/estimate-tokens.ts'
import { SUMMARY_CHARACTERS, TITLE_CHARACTERS } from '#core/limits.ts'
import { baseNameOf, type RepoPath } from '#core/repo-path.ts'
import type { DeliveredFacts } from '#core/snapshot/delivered.ts'
import type { TextLink, TextReading } from '../snapshot/text-readings.ts'
import { isMarkdown, isProse } from './content-kind.ts'
import { keywordsOf, parseYamlMapping, splitFrontMatter, textOf, type YamlMapping } from './front-matter.ts'
import { countLineBreaks } from './hidden-lines.ts'
import { readMarkdown } from './markdown.ts'
import { shortLine } from './short-line.ts'
import { factsOfText } from './text-facts.ts'

/** Title, summary and links of a text file. */
export interface TextFacts {
  /** Declared in front matter, else its first heading of level 1. */
  title: string | null
  /** Declared in front matter, else the first paragraph of a text that may be copied; `''` when there is none. */
  summary: string
  /** Markdown only. */
  links: readonly TextLink[]
  /** Of the whole file, an estimate. Markdown only. */
  tokens: number
  /** What a reviewer looks for in the whole file. */
  delivered: DeliveredFacts
}

/** Also the facts that are only searched. */
export interface DescribedText extends TextFacts, Pick<TextReading, 'name' | 'keywords'> {}

/** A text file that was parsed. */
export interface ParsedText {
  /** `null`: the file is not Markdown. */
  reading: TextReading | null
  /** Searched, like `body`. */
  headings: string
  body: string
  /** Lines of the file that hold HTML comments. */
  comments: number[]
}

/** Title and summary: front matter first (`title`; `description` or `summary`), else the first heading of level 1 and the first paragraph. */
export function parseText(path: RepoPath, text: string): ParsedText {
  if (!isMarkdown(path)) return { reading: null, headings: '', body: isProse(path) ? text : '', comments: [] }
  const block = splitFrontMatter(text)
  const bodyLine = countLineBreaks(text, 0, text.length - block.body.length)
  const fields = block.kind === 'block' ? fieldsOf(block.yaml) : {}
  const { title, summary, headings, comments, links } = readMarkdown(block.body, {
    titleCharacters: TITLE_CHARACTERS,
    summaryCharacters: SUMMARY_CHARACTERS,
  })
  return {
    reading: {
      title: shortLine(textOf(fields, 'title') ?? '', TITLE_CHARACTERS) || title,
      name: shortLine(textOf(fields, 'name') ?? '', TITLE_CHARACTERS) || null,
      declaredSummary: shortLine(textOf(fields, 'description') ?? textOf(fields, 'summary') ?? '', SUMMARY_CHARACTERS),
      firstParagraph: summary,
      keywords: keywordsOf(fields),
      links,
      tokens: estimateTokens(text),
      facts: factsOfText(text, 'markup'),
    },
    headings,
    body: block.body,
    comments: comments.map(line => line + bodyLine),
  }
}

/**
 * @param mayCopy whether the license permits a copy: without it no paragraph is quoted
 * @param delivered the facts of a text that is not Markdown
 */
export function describeText(reading: TextReading | null, mayCopy: boolean, delivered: DeliveredFacts): DescribedText {
  if (reading === null) return { title: null, summary: '', links: [], name: null, keywords: '', tokens: 0, delivered }
  const { title, declaredSummary, firstParagraph, links, name, keywords, tokens, facts } = reading
  return { title, summary: declaredSummary || (mayCopy ? firstParagraph : ''), links, name, keywords, tokens, delivered: facts }
}

/** The title of a file without one: for Markdown its name without extension, with spaces for dashes. */
export function titleOfName(path: RepoPath): string {
  const name = baseNameOf(path)
  const bare = isMarkdown(name) ? name.replace(/\.[^.]+$/, '') : name
  return shortLine(isMarkdown(name) ? bare.replace(/[-_]+/g, ' ') : bare, TITLE_CHARACTERS) || name
}

function fieldsOf(yaml: string): YamlMapping {
  const parsed = parseYamlMapping(yaml)
  return parsed.ok ? parsed.mapping : {}
}
