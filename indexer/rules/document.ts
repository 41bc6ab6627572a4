import { SUMMARY_CHARACTERS, TITLE_CHARACTERS } from '#core/limits.ts'
import { baseNameOf, type RepoPath } from '#core/repo-path.ts'
import { isMarkdown, isProse } from './content-kind.ts'
import { parseYamlMapping, splitFrontMatter, textOf, type YamlMapping } from './front-matter.ts'
import { countLineBreaks } from './hidden-lines.ts'
import { keywordsOf } from './keywords.ts'
import { type MarkdownLink, readMarkdown } from './markdown.ts'
import { shortLine } from './short-line.ts'

/** Title, summary and links of a text file. */
export interface TextFacts {
  /** Declared in front matter, else its first heading of level 1. */
  title: string | null
  /** Declared in front matter, else the first paragraph of a text that may be copied; `''` when there is none. */
  summary: string
  /** Markdown only. */
  links: MarkdownLink[]
}

/** Also the facts that are used only while the text is in memory. */
export interface ReadText extends TextFacts {
  /** The `name` of its front matter: searched like the title, not shown. */
  name: string | null
  /** Searched, like `keywords` and `body`. */
  headings: string
  keywords: string
  body: string
  /** Lines of the file that hold HTML comments. */
  comments: number[]
}

/**
 * Title and summary: front matter first (`title`; `description` or `summary`), else the first heading of level 1 and the first paragraph.
 *
 * @param mayCopy whether the license permits a copy: without it no paragraph is quoted
 */
export function readTextFacts(path: RepoPath, text: string, mayCopy: boolean): ReadText {
  if (!isMarkdown(path)) {
    const body = isProse(path) ? text : ''
    return { title: null, summary: '', links: [], name: null, headings: '', keywords: '', body, comments: [] }
  }
  const block = splitFrontMatter(text)
  const bodyLine = countLineBreaks(text, 0, text.length - block.body.length)
  const fields = block.kind === 'block' ? fieldsOf(block.yaml) : {}
  const { title, summary, headings, comments, links } = readMarkdown(block.body, {
    titleCharacters: TITLE_CHARACTERS,
    summaryCharacters: SUMMARY_CHARACTERS,
  })
  const declaredSummary = shortLine(textOf(fields, 'description') ?? textOf(fields, 'summary') ?? '', SUMMARY_CHARACTERS)
  return {
    title: shortLine(textOf(fields, 'title') ?? '', TITLE_CHARACTERS) || title,
    summary: declaredSummary || (mayCopy ? summary : ''),
    links,
    comments: comments.map(line => line + bodyLine),
    name: shortLine(textOf(fields, 'name') ?? '', TITLE_CHARACTERS) || null,
    headings,
    keywords: keywordsOf(fields),
    body: block.body,
  }
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
