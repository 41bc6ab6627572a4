import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RepoPath } from '#core/repo-path.ts'
import { decodeText } from '#core/text.ts'
import { parseText } from '#indexer/rules/document.ts'
import { parseYamlMappingLeniently, splitFrontMatter } from '#indexer/rules/front-matter.ts'

const RUNS = 3

/** How fast Markdown and front matter are read: best of three runs over generated text, and over real files below the given folder. */
export function measureParsing(corpus: string | null): Record<string, string | number>[] {
  return [
    ...measureTexts(
      'generated',
      Array.from({ length: 2_000 }, (_, number) => generatedText(number)),
    ),
    ...(corpus === null ? [] : measureTexts('corpus', markdownBelow(corpus))),
  ]
}

function measureTexts(source: string, texts: readonly string[]): Record<string, string | number>[] {
  const yaml = texts.flatMap(text => {
    const block = splitFrontMatter(text)
    return block.kind === 'block' ? [block.yaml] : []
  })
  return [
    { source, what: 'Markdown', ...speedOf(texts, text => parseText('a.md' as RepoPath, text)) },
    { source, what: 'YAML', ...speedOf(yaml, parseYamlMappingLeniently) },
  ]
}

function speedOf(texts: readonly string[], read: (text: string) => unknown): Record<string, number> {
  const megabytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1e6
  const times = Array.from({ length: RUNS }, () => {
    const startedAt = performance.now()
    for (const text of texts) read(text)
    return (performance.now() - startedAt) / 1000
  })
  return { files: texts.length, MB: megabytes, 'MB/s': megabytes / Math.min(...times) }
}

function markdownBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap(entry => {
    if (!entry.isFile() || !/\.(?:md|mdx|markdown)$/.test(entry.name)) return []
    return decodeText(readFileSync(join(entry.parentPath, entry.name))) ?? []
  })
}

/** Some five kilobytes, with what documents have: headings, lists, links, code, tables. */
function generatedText(number: number): string {
  const front = `---\nname: page-${number}\ndescription: What page ${number} says.\nmetadata:\n  tags: [a, b]\n  version: "1.${number}"\n---\n`
  const section = [
    `## Section ${number}`,
    `Words of a [link](page-${number}.md), of \`code-${number}.md\` and of *emphasis*, on lines\nthat are as long as lines of prose are.`,
    '- one\n- two\n  - three with **weight**\n- four',
    '```ts\nconst answer = 42\n```',
    '| a | b |\n|---|---|\n| 1 | 2 |',
  ]
  return `${front}# Page ${number}\n\n${`${section.join('\n\n')}\n\n`.repeat(20)}`
}
