import { describe, expect, test } from 'vitest'
import type { RepoPath } from '#core/repo-path.ts'
import type { NearPath } from '#indexer/rules/references.ts'
import { resolveDeclaredPath, resolveLink } from '#indexer/rules/references.ts'
import { parseSkill } from '#indexer/rules/skill.ts'
import { followLinks } from '#indexer/rules/skill-links.ts'
import { buildTree } from '#indexer/rules/tree.ts'
import { applyManifests } from '#indexer/rules/withheld.ts'
import type { TextLink } from '#indexer/snapshot/text-readings.ts'

const EXCLUDING = new TextEncoder().encode('---\nexclude: [hidden.md]\n---\n')
const tree = buildTree([
  ...[
    'SKILLSET.md',
    'README.md',
    'hidden.md',
    'plugins/x/.claude-plugin/plugin.json',
    'plugins/x/skills/pdf/SKILL.md',
    'plugins/x/skills/pdf/references/a b.md',
    'plugins/x/skills/pdf/references/c++.md',
    'plugins/x/skills/pdf/references/%5Bboop%5D.html',
    'plugins/x/skills/pdf/references/100%.md',
    'plugins/x/skills/pdf/references/caf\u00e9.md',
    'plugins/x/skills/pdf/scripts/run.py',
    'plugins/x/shared.md',
  ].map(path => ({ path, mode: '100644' as const, oid: path, sizeBytes: 1 })),
  { path: 'plugins/x/skills/pdf/dangling.md', mode: '120000' as const, oid: 'link', sizeBytes: 1 },
])
const policy = applyManifests(tree, () => EXCLUDING, 'handbook')
const directory = 'plugins/x/skills/pdf' as RepoPath

function resolve(target: string, kind: TextLink['kind'] = 'link') {
  return resolveLink({ kind, target }, { folder: directory, skillDirectory: directory }, tree, policy)
}

describe('links', () => {
  test.each([
    ['references/c++.md', 'plugins/x/skills/pdf/references/c++.md'],
    ['./references/a%20b.md', 'plugins/x/skills/pdf/references/a b.md'],
    ['references/c++.md:12', 'plugins/x/skills/pdf/references/c++.md'],
    ['references/a b.md#part', 'plugins/x/skills/pdf/references/a b.md'],
    ['references/c++.md?raw=1', 'plugins/x/skills/pdf/references/c++.md'],
    ['references/%5Bboop%5D.html', 'plugins/x/skills/pdf/references/%5Bboop%5D.html'],
    ['references/100%.md', 'plugins/x/skills/pdf/references/100%.md'],
    ['references/%2531%2530%2530%25.md', null],
    ['../../shared.md', 'plugins/x/shared.md'],
    ['/README.md', 'README.md'],
    ['{baseDir}/scripts/run.py', 'plugins/x/skills/pdf/scripts/run.py'],
    ['$' + '{CLAUDE_SKILL_DIR}/scripts/run.py', 'plugins/x/skills/pdf/scripts/run.py'],
    ['$CLAUDE_SKILL_DIR/scripts/run.py', 'plugins/x/skills/pdf/scripts/run.py'],
    ['$' + '{CLAUDE_PLUGIN_ROOT}/shared.md', 'plugins/x/shared.md'],
  ])('%s', (target, path) => {
    expect(resolve(target)).toEqual(path === null ? { kind: 'broken' } : { kind: 'file', path })
  })

  test('a folder is a folder', () => {
    expect(resolve('references/')).toEqual({ kind: 'folder', path: 'plugins/x/skills/pdf/references' })
  })

  test.each(['missing.md', '/missing.md', 'references/missing.md'])('%s is broken', target => {
    expect(resolve(target)).toEqual({ kind: 'broken' })
  })

  test('an excluded target counts as missing', () => {
    expect(resolve('/hidden.md')).toEqual({ kind: 'broken' })
  })

  test.each<[string, string, NearPath['difference']]>([
    ['References/C++.md', 'references/c++.md', 'case'],
    ['references\\c++.md', 'references/c++.md', 'separator'],
    ['.\\References\\a b.md', 'references/a b.md', 'case'],
    ['../PDF/scripts/', 'scripts', 'case'],
    ['references/cafe\u0301.md', 'references/caf\u00e9.md', 'normalization'],
    ['references/cafe%CC%81.md', 'references/caf\u00e9.md', 'normalization'],
  ])('%s leads to nothing, and almost names %s', (target, path, difference) => {
    expect(resolve(target)).toEqual({ kind: 'broken', near: { path: `${directory}/${path}`, difference } })
  })

  test('an excluded target is not named', () => {
    expect(resolve('/Hidden.md')).toEqual({ kind: 'broken' })
  })

  test.each(['../../../../../x.md', '../../../../..'])('%s leads out', target => {
    expect(resolve(target)).toEqual({ kind: 'outside' })
  })

  test.each([
    'https://example.org/a.md',
    'mailto:a@b.c',
    '//host/a.md',
    '#part',
    '',
    '?x',
    '<name>.md',
    'a/{x}/b.md',
    'a/…',
    'a/...',
    '$HOME/a.md',
    'javascript:alert(1)',
    // Commands of skills, and paths of a site.
    '/plan-week',
    '/office:plan-week',
    '/docs/install',
    '/docs/install.html',
    '/img/logo.png',
    'docs.example.com/guide',
    'www.example.org',
    // A person's files.
    '~/.config/mail/rules.toml',
    '~',
    '%APPDATA%/tool',
    'C:\\tools\\x.md',
    // Words that stand for a path.
    'url',
    'webUrl',
    'link.md',
    'path/to/file.md',
    './path/to/your/file.md',
    'your-file.md',
    'docs/my-guide.md',
    'references/[topic].md',
    'references/*.md',
    'posts/YYYY-MM-DD.md',
    'docs/%s.md',
  ])('%s is none', target => expect(resolve(target)).toBeNull())

  test('a symbolic link that leads to nothing is there', () => {
    expect(resolve('dangling.md')).toEqual({ kind: 'not_followed', path: `${directory}/dangling.md` })
  })
})

describe('code spans', () => {
  test.each([
    ['scripts/run.py', 'plugins/x/skills/pdf/scripts/run.py'],
    ['python scripts/run.py --fast', 'plugins/x/skills/pdf/scripts/run.py'],
    ['references/a b.md', 'plugins/x/skills/pdf/references/a b.md'],
    ['missing.md', null],
    ['references/', null],
    ['x.y', null],
    ['', null],
  ])('%s', (target, path) => {
    expect(resolve(target, 'code')).toEqual(path === null ? null : { kind: 'file', path })
  })
})

describe('code spans that ask for a file of the skill', () => {
  test('lead to a file of the skill, also from another folder', () => {
    expect(resolve('scripts/run.py', 'path')).toEqual({ kind: 'file', path: `${directory}/scripts/run.py` })
    const place = { folder: 'plugins/x' as RepoPath, skillDirectory: directory }
    expect(resolveLink({ kind: 'path', target: 'scripts/run.py' }, place, tree, policy)).toEqual(
      resolve('scripts/run.py', 'path'),
    )
  })

  test('lead to nothing if the skill lacks it, although the repository has it elsewhere', () => {
    expect(resolve('scripts/gone.py', 'path')).toEqual({ kind: 'broken' })
    expect(resolve('References/c++.md', 'path')).toMatchObject({ kind: 'broken', near: { difference: 'case' } })
    expect(resolve('scripts\\run.py', 'path')).toBeNull()
  })

  test('ask for nothing outside skills', () => {
    const place = { folder: 'plugins/x' as RepoPath, skillDirectory: null }
    expect(resolveLink({ kind: 'path', target: 'scripts/gone.py' }, place, tree, policy)).toBeNull()
  })
})

describe('declared paths', () => {
  test.each([
    ['style.md', 'a/b', 'a/b/style.md'],
    ['/AGENTS.md', 'a/b', 'AGENTS.md'],
    ['../x.md', 'a/b', 'a/x.md'],
    ['./x.md', '', 'x.md'],
    ['../../../x.md', 'a/b', null],
    ['/../x.md', 'a', null],
  ])('%s in %s', (declared, folder, path) => {
    expect(resolveDeclaredPath(declared, folder as RepoPath)).toBe(path)
  })
})

test('a skill keeps as many warnings of links as an answer shows, however many links lead to nothing', () => {
  const links = Array.from({ length: 1000 }, (_, number): TextLink => ({ kind: 'link', target: `gone-${number}.md` }))
  const parsed = parseSkill(`${directory}/SKILL.md` as RepoPath, 'Text.\n', 'handbook')
  const { warnings } = followLinks({ skill: parsed, nested: [] }, [{ folder: directory, links }], tree, policy, () => ({
    files: [],
    cut: false,
    isEmpty: true,
  }))
  expect(warnings.map(({ code }) => code)).toEqual(Array.from({ length: 20 }, () => 'reference.broken'))
})
