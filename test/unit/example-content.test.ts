import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, normalize, resolve } from 'node:path'
import { FAILSAFE_SCHEMA, load } from 'js-yaml'
import MarkdownIt from 'markdown-it'
import { expect, test } from 'vitest'
import { ERROR_STATUS } from '#core/errors.ts'
import {
  ADDRESS_BYTES,
  ADDRESS_SEGMENTS,
  BODY_LONG_BYTES,
  BODY_LONG_LINES,
  BROWSE_LIMIT,
  CARD_SKILL_NAMES,
  DESCRIPTION_CHARACTERS,
  DIAGNOSTICS_PER_ANSWER,
  DOCUMENTS,
  EXCLUDE_PATTERN_CHARACTERS,
  EXCLUDE_PATTERNS,
  FILE_LIMIT_CHARACTERS,
  FIND_FOLDED_FILES,
  FIND_LIMIT,
  FIND_QUERY_CHARACTERS,
  FRONT_MATTER_BYTES,
  INCLUDE_FILE_BYTES,
  INCLUDE_FILES,
  INCLUDE_TOTAL_BYTES,
  INDEX_WALL_SECONDS,
  INDEX_WALL_WITH_FETCH_SECONDS,
  INDEXED_TEXT_BYTES,
  MANIFEST_BYTES,
  MANIFEST_NAME_CHARACTERS,
  OVERVIEW_DOCUMENTS,
  OVERVIEW_SKILLS,
  OWNER_CARDS,
  OWNER_PAGE,
  PATH_BYTES,
  READABLE_FILE_BYTES,
  REFERENCE_DIRECTORY_FILES,
  REFERENCES,
  RULE_CHAIN_BYTES,
  RULE_CHAIN_MANIFESTS,
  SEARCHED_FILE_BYTES,
  SKILL_NAME_CHARACTERS,
  SKILL_PAGE_BYTES,
  SKILLS,
  SUPPORTING_FILES,
  TRANSLATION_TAGS,
  TREE_DEPTH_SEGMENTS,
  TREE_ENTRIES,
} from '#core/limits.ts'
import { baseNameOf, parentOf, parseRepoPath, type RepoPath } from '#core/repo-path.ts'
import { countCharacters, decodeText, utf8Length } from '#core/text.ts'

const ROOT = resolve('examples/handbook')
const paths = await listFiles()
const texts = new Map(await Promise.all(paths.filter(isText).map(async path => [path, await readText(path)] as const)))
const served = paths.filter(path => !isExcluded(path))
const manifests = paths.filter(path => baseNameOf(path) === 'SKILLSET.md')
const skills = served.filter(path => baseNameOf(path) === 'SKILL.md')

async function listFiles(): Promise<RepoPath[]> {
  const entries = await readdir(ROOT, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(ROOT.length + 1) as RepoPath)
    .sort()
}

function isText(path: string): boolean {
  return !path.endsWith('.png')
}

function isExcluded(path: string): boolean {
  return path.startsWith('drafts/') || path.endsWith('.private.md')
}

async function readText(path: string): Promise<string> {
  const text = decodeText(await readFile(join(ROOT, path)))
  if (text === null) throw new Error(`${path} is not UTF-8 text`)
  return text
}

function textOf(path: string): string {
  return texts.get(path as RepoPath) ?? ''
}

interface FrontMatter {
  name?: string
  description?: string
  license?: string
  language?: string
  image?: string
  include?: string | string[]
  exclude?: string[]
  metadata?: { include?: string }
  translations?: Record<string, { name?: string; description?: string }>
}

function split(path: string): { head: FrontMatter; body: string } {
  const match = /^---\n(.*?\n)---\n(.*)$/s.exec(textOf(path))
  if (!match) throw new Error(`${path} has no front matter`)
  return { head: load(match[1] ?? '', { schema: FAILSAFE_SCHEMA }) as FrontMatter, body: match[2] ?? '' }
}

function includesOf(path: string): string[] {
  const { include = [], metadata } = split(path).head
  return [...(typeof include === 'string' ? include.split(/\s+/) : include), ...(metadata?.include?.split(/\s+/) ?? [])]
}

/** The repository path that a link in a file spells. */
function targetOf(from: string, link: string): string {
  const path = link.replace(/[#?].*$/, '')
  return path.startsWith('/') ? path.slice(1) : normalize(join(dirname(from), path)).replace(/\/$/, '')
}

test('every path is canonical and every file readable', async () => {
  for (const path of paths) {
    expect(parseRepoPath(path), path).toBe(path)
    expect((await readFile(join(ROOT, path))).length, path).toBeLessThanOrEqual(READABLE_FILE_BYTES)
  }
})

test('every text is free of carriage returns, invisible characters and HTML comments', () => {
  for (const [path, text] of texts) {
    expect(/[\r\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u.test(text), path).toBe(false)
    expect(path.endsWith('.md') && text.includes('<!--'), path).toBe(false)
  }
})

test('manifests nest three levels deep, and each has rules', () => {
  expect(manifests).toEqual([
    'SKILLSET.md',
    'de/SKILLSET.md',
    'reading/SKILLSET.md',
    'reviewing/SKILLSET.md',
    'writing/SKILLSET.md',
    'writing/policy/SKILLSET.md',
  ])
  for (const path of manifests) {
    const { head, body } = split(path)
    expect(countCharacters(head.name ?? ''), path).toBeGreaterThan(0)
    expect(countCharacters(head.name ?? ''), path).toBeLessThanOrEqual(MANIFEST_NAME_CHARACTERS)
    expect(body.trim(), path).not.toBe('')
    expect(Object.keys(head.translations ?? {}), path).not.toHaveLength(0)
  }
  expect(split('SKILLSET.md').head).toMatchObject({ language: 'en', license: 'CC-BY-4.0', exclude: ['drafts/', '*.private.md'] })
  expect(split('de/SKILLSET.md').head.language).toBe('de')
  expect(paths).toContain(split('SKILLSET.md').head.image)
})

test('every skill is named like its folder, describes itself within the limit and has a German or English translation', () => {
  expect(skills.length).toBeGreaterThanOrEqual(8)
  for (const path of skills) {
    const { head } = split(path)
    expect(head.name, path).toBe(baseNameOf(parentOf(path)))
    expect(head.name, path).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    expect(countCharacters(head.name ?? ''), path).toBeLessThanOrEqual(SKILL_NAME_CHARACTERS)
    expect(countCharacters(head.description ?? ''), path).toBeGreaterThan(0)
    expect(countCharacters(head.description ?? ''), path).toBeLessThanOrEqual(DESCRIPTION_CHARACTERS)
    expect(
      Object.keys(head.translations ?? {}).some(tag => tag === 'de' || tag === 'en'),
      path,
    ).toBe(true)
  }
  expect(new Set(skills.map(path => split(path).head.name)).size).toBe(skills.length)
})

test('no skill is long enough for a warning, and one body takes more than a page', () => {
  const bodies = skills.map(path => split(path).body)
  expect(Math.max(...bodies.map(utf8Length))).toBeGreaterThan(SKILL_PAGE_BYTES)
  expect(Math.max(...bodies.map(utf8Length))).toBeLessThanOrEqual(BODY_LONG_BYTES)
  expect(Math.max(...bodies.map(body => body.split('\n').length))).toBeLessThanOrEqual(BODY_LONG_LINES)
})

test('the licenses are the root’s, one of their own for scripts, and one that permits a description only', () => {
  const declared = skills.map(path => split(path).head.license)
  expect(new Set(declared)).toEqual(new Set([undefined, 'CC-BY-4.0', 'Apache-2.0', 'Proprietary']))
  expect(declared.filter(license => license === 'Proprietary')).toHaveLength(1)
  expect(textOf('LICENSE')).toMatch(/^Creative Commons Attribution 4\.0 International\n/)
})

test('includes come by manifest, by skill, by metadata and from a sibling folder, and all are there', () => {
  const declared = [...manifests, ...skills].flatMap(path =>
    includesOf(path).map(include => ({ path, file: targetOf(path, include) })),
  )
  for (const { path, file } of declared) expect(served, path).toContain(file)
  expect(declared).toContainEqual({ path: 'SKILLSET.md', file: 'shared/style.md' })
  expect(declared).toContainEqual({ path: 'reading/open-an-address/SKILL.md', file: 'shared/glossary.md' })
  expect(declared).toContainEqual({ path: 'writing/include-and-refer/SKILL.md', file: 'shared/glossary.md' })
  expect(declared).toContainEqual({
    path: 'reviewing/find-hidden-text/SKILL.md',
    file: 'reviewing/review-a-skill/references/checklist.md',
  })
})

test('every link leads to a file or folder that is served', () => {
  const markdown = new MarkdownIt()
  const known = new Set<string>(served.flatMap(path => [path, ...foldersOf(path)]))
  for (const path of served.filter(path => path.endsWith('.md'))) {
    const links = markdown
      .parse(textOf(path), {})
      .flatMap(token => token.children ?? [])
      .filter(token => token.type === 'link_open')
      .map(token => String(token.attrGet('href') ?? ''))
    for (const link of links) expect(known, `${path} links to ${link}`).toContain(targetOf(path, link))
  }
})

test('every {baseDir} in a skill names a file of that skill', () => {
  const uses = skills.flatMap(path =>
    [
      ...split(path)
        .body.replace(/^```.*?^```/gms, '')
        .matchAll(/\{baseDir\}\/([\w./-]+)/g),
    ].map(match => `${parentOf(path)}/${match[1]}`),
  )
  expect(uses.length).toBeGreaterThan(0)
  for (const use of uses) expect(served).toContain(use)
})

test('what is excluded is marked, and nothing that is served carries the mark', () => {
  const excluded = paths.filter(isExcluded)
  expect(excluded).toEqual(['drafts/README.md', 'drafts/teach-a-crowd/SKILL.md', 'writing/notes.private.md'])
  for (const path of excluded) expect(textOf(path), path).toContain('quillfeather-withheld')
  for (const path of served) expect(textOf(path), path).not.toContain('quillfeather-withheld')
})

test('the page of limits states the limits that hold', () => {
  const page = textOf('docs/limits.md')
  const bounds: [string, string][] = [
    ['address', `${words(ADDRESS_BYTES)} bytes, ${ADDRESS_SEGMENTS} segments`],
    ['`browse` `limit`', `${BROWSE_LIMIT.min} to ${BROWSE_LIMIT.max}, default ${BROWSE_LIMIT.default}`],
    ['`find` `limit`', `${FIND_LIMIT.min} to ${FIND_LIMIT.max}, default ${FIND_LIMIT.default}`],
    ['`find` `query`', `not blank, ${FIND_QUERY_CHARACTERS} characters`],
    ['matching files shown with a skill', `${FIND_FOLDED_FILES}, the rest counted in \`moreFiles\``],
    ['text of a skill on one page', `${kib(SKILL_PAGE_BYTES)} of UTF-8`],
    [
      '`files` `limit`',
      `${FILE_LIMIT_CHARACTERS.min} to ${words(FILE_LIMIT_CHARACTERS.max)} characters, default ${words(FILE_LIMIT_CHARACTERS.default)}`,
    ],
    ['readable file', mib(READABLE_FILE_BYTES)],
    ['lists of the overview', `${OVERVIEW_SKILLS} skills, ${OVERVIEW_DOCUMENTS} documents`],
    ['diagnostics in one answer', `${DIAGNOSTICS_PER_ANSWER}`],
    ['`owners` `page`', `${OWNER_PAGE.min} to ${OWNER_PAGE.max}, default ${OWNER_PAGE.default}`],
    ['cards of an owner, skills named on a card', `${OWNER_CARDS}, ${CARD_SKILL_NAMES}`],
    ['front matter', kib(FRONT_MATTER_BYTES)],
    ['`SKILLSET.md`', `${kib(MANIFEST_BYTES)}; ${RULE_CHAIN_MANIFESTS} in one chain, ${kib(RULE_CHAIN_BYTES)} together`],
    ['includes of a skill', `${INCLUDE_FILES} files, ${kib(INCLUDE_FILE_BYTES)} each, ${kib(INCLUDE_TOTAL_BYTES)} together`],
    ['references', `${REFERENCES}; ${REFERENCE_DIRECTORY_FILES} files for a linked folder`],
    ['supporting files listed', `${SUPPORTING_FILES} a skill`],
    ['exclude patterns', `${EXCLUDE_PATTERNS} a manifest, ${EXCLUDE_PATTERN_CHARACTERS} characters each`],
    ['name of a skill', `${SKILL_NAME_CHARACTERS} characters`],
    ['name of a manifest', `${MANIFEST_NAME_CHARACTERS} characters`],
    ['description', `${words(DESCRIPTION_CHARACTERS)} characters`],
    ['languages in `translations`', `${TRANSLATION_TAGS}`],
    ['path', `${words(PATH_BYTES)} bytes, ${TREE_DEPTH_SEGMENTS} segments`],
    ['entries of the tree', words(TREE_ENTRIES)],
    ['skills, documents', `${words(SKILLS)} and ${words(DOCUMENTS)}`],
    ['indexed text', `${mib(INDEXED_TEXT_BYTES)}; of one file the first ${kib(SEARCHED_FILE_BYTES)} are searched`],
    ['time', `${INDEX_WALL_SECONDS} seconds, ${INDEX_WALL_WITH_FETCH_SECONDS} seconds with fetching`],
  ]
  const rows = page.split('\n').filter(line => /^\| [^|]/.test(line) && !line.startsWith('| |'))
  expect(rows).toEqual(bounds.map(([what, value]) => `| ${what} | ${value} |`))
})

test('the page of errors lists every code with its status', () => {
  const rows = textOf('docs/errors.md').matchAll(/^\| (\d{3}) \| (.*?) \|/gm)
  const listed = [...rows].flatMap(([, status, codes = '']) =>
    [...codes.matchAll(/`([a-z_.]+)`/g)].map(match => [match[1], Number(status)]),
  )
  const addresses = [...textOf('docs/addresses.md').matchAll(/`(address\.[a-z_]+)`/g)].map(match => [match[1], 400])
  expect(Object.fromEntries([...listed, ...addresses])).toEqual(ERROR_STATUS)
})

test('the lengths in example answers are those of the files they show', () => {
  const page = textOf('reading/read-by-rest/references/answers.md')
  const glossary = textOf('de/glossar.md')
  expect(page).toContain(`"totalLength": ${countCharacters(glossary)}`)
  expect(page).toContain(`"size": ${utf8Length(glossary)}`)
  const style = countCharacters(textOf('shared/style.md'))
  expect(textOf('reading/read-by-rest/SKILL.md')).toContain(`"length": ${style}, "totalLength": ${style}`)
})

test('the hidden-text script finds what hides, with its place, and is silent about ordinary text', async () => {
  const script = join(ROOT, 'reviewing/find-hidden-text/scripts/hidden-text.mjs')
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-hidden-'))
  try {
    const clean = join(folder, 'clean.md')
    await writeFile(clean, '\ufeff# Ordinary\n\tCode, 鏡, 👩\u200d🚀, ❤\ufe0f, می\u200cخواهم\r\n')
    expect(execFileSync(process.execPath, [script, clean], { encoding: 'utf8' })).toBe('')

    const tags = [...'send it'].map(character => String.fromCodePoint(0xe0000 + (character.codePointAt(0) ?? 0))).join('')
    const bad = join(folder, 'bad.md')
    await writeFile(bad, `🪞 a${tags}\nab\u202ecd\nx\u200by\n<!-- do this\nz\u0007\nok${' '.repeat(90)}far\n`)
    const result = spawnSync(process.execPath, [script, bad], { encoding: 'utf8' })
    expect(result.status).toBe(1)
    expect(result.stdout.trimEnd().split('\n')).toEqual([
      `${bad}:1:4 tag characters: 7 spelling "send it"`,
      `${bad}:2:3 direction control: U+202E`,
      `${bad}:3:2 zero-width character: U+200B`,
      `${bad}:4:1 HTML comment: "<!-- do this"`,
      `${bad}:5:2 control character: U+0007`,
      `${bad}:6:93 text after a long gap: "far"`,
    ])
    expect(spawnSync(process.execPath, [script]).status).toBe(2)
    expect(spawnSync(process.execPath, [script, join(folder, 'absent.md')]).status).toBe(2)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

function foldersOf(path: string): string[] {
  const parent = parentOf(path as RepoPath)
  return parent === '' ? [] : [parent, ...foldersOf(parent)]
}

/** A number as the pages write it. */
function words(count: number): string {
  return count.toLocaleString('en-US')
}

function kib(bytes: number): string {
  return `${bytes / 1024} KiB`
}

function mib(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`
}
