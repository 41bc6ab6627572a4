import fc from 'fast-check'
import { ancestorsOf, joinPath, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import { MIT, skillText } from '../api/support/texts.ts'

/** A repository that may hold everything that the reading rules speak of. */
export interface GeneratedRepository {
  files: Record<string, string | Uint8Array>
  folders: RepoPath[]
}

const folder = fc
  .array(fc.constantFrom('docs', 'skills', 'drafts', 'inner', 'references', 'über uns', '漢字', 'a b', '%41', 'x'), {
    minLength: 1,
    maxLength: 3,
  })
  .map(names => names.join('/') as RepoPath)

const LINES = ['Plant the garden.', 'Gieße täglich 🌱.', '庭に水をやる。', '## Tools', '- rake\r', '']
/** From one line to some forty kilobytes. */
const text = fc
  .tuple(fc.array(fc.constantFrom(...LINES), { minLength: 1, maxLength: 5 }), fc.constantFrom(1, 1, 1, 2, 400))
  .map(([lines, times]) => `${lines.join('\n')}\n`.repeat(times))

const links = fc
  .array(
    fc.constantFrom(
      ...[
        'a.md',
        '../a.md',
        '/docs/a.md',
        'references/',
        '/skills/',
        'é.md',
        '%C3%A9.md',
        'notes.txt#top',
        '../../../../..',
        'nowhere.md',
      ],
      ...['%5Bx%5D.md', 'data.bin', '{baseDir}/a.md', 'https://example.org/', '/SKILL.md', '/x/source.ts'],
    ),
    { maxLength: 4 },
  )
  .map(targets => targets.map(target => `[garden](<${target}>) and \`${target}\`\n`).join(''))

const name = fc.constantFrom(
  'a.md',
  'b.mdx',
  'notes.txt',
  'README.md',
  'README.de.md',
  'é.md',
  'e\u0301.md',
  '%5Bx%5D.md',
  'c++.md',
  'skill.md',
  'source.ts',
)
const file = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(
      name,
      fc.tuple(text, links).map(([words, linked]) => `# Garden\n\n${words}${linked}`),
    ),
  },
  { weight: 1, arbitrary: fc.constant(['data.bin', new Uint8Array([0, 159, 146, 150])] as const) },
)

const include = fc.constantFrom(
  '',
  '',
  '',
  'include: [a.md]\n',
  'include: [/docs/a.md, notes.txt]\n',
  'include: [../drafts/a.md, nowhere.md]\n',
)
const exclude = fc
  .array(
    fc.constantFrom(
      'drafts/',
      '*.txt',
      '/a.md',
      'inner',
      '**/é.md',
      '!a.md',
      'SKILL.md',
      '/*/references/',
      'README*',
      '漢字/',
      '%5B*',
    ),
    {
      maxLength: 3,
    },
  )
  .map(patterns => (patterns.length > 0 ? `exclude: ${JSON.stringify(patterns)}\n` : ''))

const skill = fc
  .tuple(
    fc.constantFrom('', '', '', 'twin'),
    include,
    fc.constantFrom('', '', '', 'license: Proprietary\n', 'metadata: { internal: true }\n'),
    text,
    links,
  )
  .map(
    ([spoken, includes, more, words, linked]) =>
      (at: string) =>
        skillText(spoken || at, words + linked, includes + more),
  )

const manifest = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(exclude, include, fc.oneof(fc.constant(''), text), fc.constantFrom('', 'language: de\n'))
      .map(parts => `---\nname: Garden\n${parts[3]}${parts[0]}${parts[1]}---\n${parts[2]}`),
  },
  { weight: 1, arbitrary: fc.constantFrom('---\nbroken', '---\nexclude: all\n---\n', '# A document\n') },
)

const content = fc.record({
  files: fc.array(file, { maxLength: 3 }),
  skill: fc.option(skill),
  manifest: fc.option(manifest),
  license: fc.option(fc.constantFrom(MIT, 'All rights reserved.\n'), { freq: 8 }),
})

export const repository: fc.Arbitrary<GeneratedRepository> = fc
  .tuple(
    fc.record({
      files: fc.array(file, { maxLength: 3 }),
      skill: fc.option(skill, { freq: 6 }),
      manifest: fc.option(manifest),
      license: fc.constant(MIT),
    }),
    fc.uniqueArray(fc.tuple(folder, content), { minLength: 2, maxLength: 6, selector: ([path]) => path }),
  )
  .map(([root, below]) => {
    const files: GeneratedRepository['files'] = {}
    for (const [path, { files: own, skill, manifest, license }] of [[ROOT, root] as const, ...below]) {
      for (const [base, words] of own) files[joinPath(path, base)] = words
      if (skill) files[joinPath(path, 'SKILL.md')] = skill(path.split('/').at(-1) || 'root')
      if (manifest !== null) files[joinPath(path, 'SKILLSET.md')] = manifest
      if (license !== null) files[joinPath(path, 'LICENSE')] = license
    }
    return { files, folders: [...new Set(Object.keys(files).flatMap(path => ancestorsOf(path as RepoPath)))] }
  })

/**
 * Paths whose files no rule of a mount speaks of: not above it, not linked or included from it, no skill of a name that it has too, and no
 * manifest, which may withhold such a skill.
 */
export function unrelatedTo(mount: RepoPath, files: GeneratedRepository['files']): string[] {
  const isBelow = (path: string) => path.startsWith(`${mount}/`)
  const nameOf = (path: string) => /^name: (.*)$/m.exec(String(files[path]))?.[1]
  const names = new Set(Object.keys(files).filter(isBelow).map(nameOf))
  return Object.keys(files).filter(path => {
    const isLinked = /(?:^|\/)(?:docs|skills|drafts|x)\//.test(path)
    const isManifest = path.endsWith('SKILLSET.md')
    const isAbove = ancestorsOf(joinPath(mount, 'x')).includes(parentOf(path as RepoPath))
    return !isLinked && !isAbove && !isManifest && !isBelow(path) && !(path.endsWith('SKILL.md') && names.has(nameOf(path)))
  })
}

/** The file with a skill name of its own. */
export function renamed(file: string | Uint8Array): string | Uint8Array {
  return typeof file === 'string' ? file.replace(/^name: .*$/m, 'name: elsewhere') : file
}
