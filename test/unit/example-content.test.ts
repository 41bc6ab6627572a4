import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import MarkdownIt from 'markdown-it'
import { expect, test } from 'vitest'
import {
  BODY_LONG_BYTES,
  BODY_LONG_LINES,
  DESCRIPTION_CHARACTERS,
  MANIFEST_NAME_CHARACTERS,
  READABLE_FILE_BYTES,
  SKILL_NAME_CHARACTERS,
  SKILL_PAGE_BYTES,
} from '#core/limits.ts'
import { baseNameOf, parentOf, parseRepoPath, type RepoPath } from '#core/repo-path.ts'
import { countCharacters, utf8Length } from '#core/text.ts'
import {
  includesOf,
  isExcluded,
  manifests,
  paths,
  ROOT,
  served,
  skills,
  split,
  targetOf,
  textOf,
  texts,
} from './example-files.ts'

test('every path is canonical and every file readable', async () => {
  for (const path of paths) {
    expect(parseRepoPath(path), path).toBe(path)
    expect((await readFile(join(ROOT, path))).length, path).toBeLessThanOrEqual(READABLE_FILE_BYTES)
  }
})

test('every text is free of carriage returns, hidden characters and HTML comments', () => {
  for (const [path, text] of texts) {
    expect(/[\r\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u.test(text), path).toBe(false)
    expect(path.endsWith('.md') && text.includes('<!--'), path).toBe(false)
  }
})

test('links are relative, so that they work in a checkout of the whole project', () => {
  const markdown = [...texts].filter(([path]) => path.endsWith('.md'))
  expect(markdown.length).toBeGreaterThan(20)
  for (const [path, text] of markdown) expect(text.match(/\]\(\/[^)]*\)/g) ?? [], path).toEqual([])
})

test('the first skills of the handbook are in its language', () => {
  expect(skills.findIndex(path => path.startsWith('translated-de/'))).toBeGreaterThan(4)
})

test('manifests nest three levels deep, and each has rules', () => {
  expect(manifests).toEqual([
    'SKILLSET.md',
    'reading/SKILLSET.md',
    'reviewing/SKILLSET.md',
    'translated-de/SKILLSET.md',
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
  expect(split('translated-de/SKILLSET.md').head.language).toBe('de')
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

test('includes come by manifest, by skill, by metadata and from a sibling folder, and all exist', () => {
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

test('excluded content is marked, and no served content carries the mark', () => {
  const excluded = paths.filter(isExcluded)
  expect(excluded).toEqual(['drafts/README.md', 'drafts/teach-a-crowd/SKILL.md', 'writing/notes.private.md'])
  for (const path of excluded) expect(textOf(path), path).toContain('quillfeather-withheld')
  for (const path of served) expect(textOf(path), path).not.toContain('quillfeather-withheld')
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
