import { describe, expect, test } from 'vitest'
import { createApiClient } from '#site/lib/api-client.ts'
import { openTarget } from '#site/lib/open-address.ts'
import { ENGLISH } from '#site/lib/ui.ts'
import { answering, COMMIT, findPage, readyMount, refusal } from './support/answers.ts'

/** Where the branches `main`, `v1.0` and `feature/new/x` exist. */
const client = createApiClient(
  answering({
    mounts: ({ address }) => (/@(?:main|v1\.0|feature%2Fnew%2Fx)$/.test(address) ? readyMount() : refusal('mount.ref_not_found')),
  }),
)
const LISTED = ['/local/acme/one', '/local/Obra/Superpowers', '/local/twice/Kit', '/local/twice/kit', '/local/acme/broken']
const DAMAGED = new Set(['/local/acme/broken'])
const sources = {
  client,
  hosts: ['gh', 'local'],
  baseUrl: 'https://mountglass.example',
  listLocal: async () => LISTED,
  listed: {
    peek: async (asked: readonly string[]) =>
      asked.map(address => ({
        address,
        description: null,
        state: { kind: DAMAGED.has(address) ? ('damaged' as const) : ('unread' as const) },
      })),
    search: async () => null,
  },
  ui: ENGLISH,
}
const open = (words: string) => openTarget(sources, words)

const SHA = 'a1b2c3d4e5f60718293a4b5c6d7e8f9012345678'

describe('the address field', () => {
  test.each([
    ['local/acme/tools', '/local/acme/tools'],
    ['  /local/acme/tools@v1/docs/ ', '/local/acme/tools@v1/docs'],
    ['gh/acme/tools@feature%2Fx', '/gh/acme/tools@feature%2Fx'],
    ['local/acme/tools/日本 語', '/local/acme/tools/%E6%97%A5%E6%9C%AC%20%E8%AA%9E'],
    ['local/acme/tools/c#', '/local/acme/tools/c%23'],
    ['acme/tools', '/gh/acme/tools'],
    ['acme/tools@v1/docs', '/gh/acme/tools@v1/docs'],
    ['https://mountglass.example/local/acme/tools', '/local/acme/tools'],
    ['https://mountglass.example/local/acme/tools?view=file&path=a b.md#x', '/local/acme/tools?view=file&path=a+b.md'],
    ['/local/acme/tools?view=browse', '/local/acme/tools?view=browse'],
    ['https://github.com/acme/tools', '/gh/acme/tools'],
    ['http://www.github.com/acme/tools/', '/gh/acme/tools'],
    ['github.com/acme/tools.git', '/gh/acme/tools'],
    ['git@github.com:acme/tools.git', '/gh/acme/tools'],
    ['ssh://git@github.com/acme/tools', '/gh/acme/tools'],
    ['https://github.com/acme/tools/tree/main', '/gh/acme/tools@main'],
    ['https://github.com/acme/tools/tree/v1.0/skills/pdf?tab=readme#usage', '/gh/acme/tools@v1.0/skills/pdf'],
    ['https://github.com/acme/tools/blob/main/docs/c%2B%2B.md', '/gh/acme/tools@main?view=file&path=docs/c%2B%2B.md'],
    ['https://github.com/acme/tools/blob/main/skills/pdf/SKILL.md', '/gh/acme/tools@main?view=skill&path=skills/pdf/SKILL.md'],
    ['https://github.com/acme/tools/issues/1', '/gh/acme/tools?opened=issues'],
    ['https://github.com/acme/tools/pull/7/files', '/gh/acme/tools?opened=pull'],
    ['https://github.com/acme/tools/tree/feature/new/x/skills', '/gh/acme/tools@feature%2Fnew%2Fx/skills'],
    ['https://github.com/acme/tools/blob/feature/new/x/docs/a.md', '/gh/acme/tools@feature%2Fnew%2Fx?view=file&path=docs/a.md'],
    ['https://github.com/acme/tools/tree/gone/new/x', '/gh/acme/tools@gone/new/x'],
    ['https://github.com/acme/tools/blame/main/a.md#L3', '/gh/acme/tools@main?view=file&path=a.md'],
    [`https://github.com/acme/tools/commit/${SHA}`, `/gh/acme/tools@${SHA}`],
    ['https://github.com/acme/tools/releases/tag/v1/2', '/gh/acme/tools@v1%2F2'],
    ['https://raw.githubusercontent.com/acme/tools/main/docs/a.md', '/gh/acme/tools@main?view=file&path=docs/a.md'],
    ['raw.githubusercontent.com/acme/tools/refs/heads/main/a.md?token=x', '/gh/acme/tools@main?view=file&path=a.md'],
    [
      'https://raw.githubusercontent.com/acme/tools/refs/tags/feature/new/x/skills/SKILL.md',
      '/gh/acme/tools@feature%2Fnew%2Fx?view=skill&path=skills/SKILL.md',
    ],
    ['npx skills add acme/tools', '/gh/acme/tools'],
    ['npx -y skills add https://github.com/acme/tools/tree/main/skills --skill pdf', '/gh/acme/tools@main/skills'],
    ['https://mountglass.example/mcp/local/acme/tools@v1', '/local/acme/tools@v1'],
    ['gh/acme', '/owners/gh/acme'],
    ['/gh/acme/', '/owners/gh/acme'],
    ['https://github.com/acme', '/owners/gh/acme'],
    ['https://github.com/acme?tab=repositories', '/owners/gh/acme'],
    ['https://mountglass.example/owners/gh/acme?page=2', '/owners/gh/acme'],
    ['local/acme', '/owners/local/acme'],
    ['Local/acme/', '/owners/local/acme'],
    ['LOCAL/acme/one', '/local/acme/one'],
    ['Local/obra/superpowers@main/skills', '/local/Obra/Superpowers@main/skills'],
    ['local/twice/kit', '/local/twice/kit'],
    ['local/twice/KIT', '/local/twice/KIT'],
    ['GH/acme/tools', '/gh/acme/tools'],
    ['https://skills.sh/acme/tools', '/gh/acme/tools'],
    ['www.skills.sh/acme/tools/?x=y', '/gh/acme/tools'],
    ['nonsense', '/search?query=nonsense'],
    ['foo bar baz', '/search?query=foo+bar+baz'],
    ['foo bar/baz', '/search?query=foo+bar%2Fbaz'],
    ['local/acme/tools\r\nset-cookie: a=b', '/search?query=local%2Facme%2Ftools%0D%0Aset-cookie%3A+a%3Db'],
    ['日本語', '/search?query=%E6%97%A5%E6%9C%AC%E8%AA%9E'],
  ])('takes %s to %s', async (words, location) => {
    expect(await open(words)).toEqual({ location })
  })

  test.each([
    ['', 'Which repository?'],
    ['   ', 'Which repository?'],
    ['gh', 'Which repository?'],
    ['/local/', 'Which repository?'],
    ['https://github.com/', 'Which repository?'],
    ['gh/ac.me', 'Which repository?'],
    ['!!!', 'Not understood'],
    ['https://gitlab.com/acme/tools', 'github.com'],
    ['javascript://x/%0aalert(1)', 'github.com'],
    ['//evil.example/x', 'Which repository?'],
    ['local/acme/tools/%', 'percent-escape'],
    ['local/acme/tools/../x', '. or ..'],
  ])('reports the fault of %j', async (words, part) => {
    expect(await open(words)).toMatchObject({ message: expect.stringContaining(part) })
  })

  const SUPERPOWERS = 'local/Obra/Superpowers'
  test.each([
    ['https://github.com/acme/tools', null],
    ['https://github.com/acme/broken', null],
    ['https://github.com/', null],
    ['git@github.com:obra/superpowers.git', ''],
    ['npx skills add https://github.com/obra/superpowers', ''],
    ['gh/obra/superpowers@main/skills', '@main/skills'],
    ['https://github.com/obra/superpowers/tree/gone', ''],
    ['https://github.com/obra/superpowers/blob/main/skills/a/SKILL.md', '@main?view=skill&path=skills/a/SKILL.md'],
    ['https://github.com/obra/superpowers/tree/feature/new/x/skills', '@feature%2Fnew%2Fx/skills'],
    ['https://raw.githubusercontent.com/obra/superpowers/v1.0/a.md', '@v1.0?view=file&path=a.md'],
  ])('says where GitHub is not served what is here of %s', async (words, place) => {
    const here = createApiClient(
      answering({
        mounts: ({ address }) =>
          /@(?:main|v1\.0|feature%2Fnew%2Fx)$|^[^@]*$/.test(address) ? readyMount() : refusal('mount.ref_not_found'),
      }),
    )
    const local = place === null ? null : { name: SUPERPOWERS, href: `/${SUPERPOWERS}${place}` }
    expect(await openTarget({ ...sources, client: here, hosts: ['local'] }, words)).toEqual({ local })
  })

  test('an owner and a repository are those of the operator, where there are such', async () => {
    const asking = createApiClient(
      answering({ mounts: ({ address }) => (address === 'local/acme/tools' ? readyMount() : refusal('mount.repo_not_found')) }),
    )
    const open = (words: string) => openTarget({ ...sources, client: asking }, words)
    expect(await open('acme/tools@v1/docs')).toEqual({ location: '/local/acme/tools@v1/docs' })
    expect(await open('acme/others')).toEqual({ location: '/gh/acme/others' })
  })

  test('takes no account where GitHub is not served', async () => {
    for (const words of ['gh/acme', 'https://github.com/acme', '/owners/gh/acme'])
      expect(await openTarget({ ...sources, hosts: ['local'] }, words), words).toEqual({ local: null })
  })

  test('does not speak of GitHub where GitHub is not served', async () => {
    const target = await openTarget({ ...sources, hosts: ['local'] }, 'https://gitlab.com/acme/tools')
    expect(target).toEqual({ message: 'Only repositories of this server can be opened.', isIncomplete: false })
  })
})

describe('owner/repository@skill, as skills.sh prints it', () => {
  const foundSkill = (directory: string, name: string) => ({
    kind: 'skill' as const,
    description: 'When it is at hand.',
    translations: {},
    license: { kind: 'open' as const, name: 'MIT', source: 'LICENSE' },
    files: [],
    moreFiles: 0,
    path: `${directory}/SKILL.md`,
    directory,
    name,
  })
  const SKILLS = [
    foundSkill('skills/pdf', 'pdf'),
    foundSkill('skills/pdf-more', 'pdf-more'),
    foundSkill('a/twice', 'twice'),
    foundSkill('b/twice', 'twice'),
    foundSkill('skills/folder', 'Another Name'),
  ]
  const asking = (state: 'ready' | 'indexing') =>
    createApiClient(
      answering({
        mounts: ({ address }) => (/@(?!v1$)/.test(address) ? refusal('mount.ref_not_found') : readyMount()),
        find: () => (state === 'indexing' ? { status: 'indexing', commit: COMMIT } : findPage({ items: SKILLS })),
      }),
    )
  const open = (words: string, state: 'ready' | 'indexing' = 'ready') => openTarget({ ...sources, client: asking(state) }, words)

  test.each([
    ['gh/acme/tools@v1', '/gh/acme/tools@v1'],
    ['gh/acme/tools@pdf', '/gh/acme/tools?view=skill&path=skills/pdf/SKILL.md'],
    ['gh/acme/tools@PDF', '/gh/acme/tools?view=skill&path=skills/pdf/SKILL.md'],
    ['gh/acme/tools@folder', '/gh/acme/tools?view=skill&path=skills/folder/SKILL.md'],
    ['gh/acme/tools@twice', '/gh/acme/tools?view=find&query=twice'],
    ['gh/acme/tools@none', '/gh/acme/tools@none'],
    ['gh/acme/tools@pdf/folder', '/gh/acme/tools@pdf/folder'],
    ['https://skills.sh/acme/tools/pdf', '/gh/acme/tools?view=skill&path=skills/pdf/SKILL.md'],
    ['https://skills.sh/acme/tools/none', '/gh/acme/tools?view=find&query=none'],
  ])('takes %s to %s', async (words, location) => {
    expect(await open(words)).toEqual({ location })
  })

  test('while the repository is indexed, its search waits for the skill', async () => {
    expect(await open('gh/acme/tools@pdf', 'indexing')).toEqual({ location: '/gh/acme/tools?view=find&query=pdf' })
  })
})
