import { expect, test } from 'vitest'
import { ServiceError } from '#core/errors.ts'
import { DE as de } from '#words/de/de.ts'
import { EN as en } from '#words/en/en.ts'
import {
  type Answers,
  browsePage,
  COMMIT,
  filePage,
  findPage,
  ownerPage,
  readyCard,
  readyMount,
  refusal,
} from './support/answers.ts'
import { attributesOf, tagsOf, textOf, titleOf } from './support/html.ts'
import { open, PAGE, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const linksOf = (html: string) => attributesOf(html.slice(html.indexOf('<main')), 'a', 'href')
const ON_GITHUB = { hosts: ['gh', 'local'], hostUrls: { gh: 'https://github.example' } }

test.each([
  ['repository', '/gh/acme/gone', 'mount.repo_not_found', {}],
  ['ref', '/gh/acme/tools@v9/docs', 'mount.ref_not_found', {}],
  ['path', '/gh/acme/tools/docs', 'mount.path_not_found', { files: () => refusal('file.not_found') }],
  ['file', '/gh/acme/tools?view=file&path=a.md', '', { files: () => refusal('file.not_found') }],
  ['skill', '/gh/acme/tools?view=skill&path=a/SKILL.md', '', { skills: () => refusal('skill.not_found') }],
  ['account', '/owners/gh/nobody', '', { owners: () => refusal('owner.not_found') }],
] satisfies [keyof typeof en.lost.titles, string, string, Answers][])(
  'the title names the missing %s, in both languages, and the front page is linked',
  async (kind, target, code, answers) => {
    const mounts: Answers = code === '' ? {} : { mounts: () => refusal(code as 'mount.repo_not_found') }
    const { get } = await open({ ...mounts, ...answers }, ON_GITHUB)
    for (const [language, words] of Object.entries({ en, de })) {
      const { status, html } = await get(target, 'GET', { 'accept-language': language })
      expect(status).toBe(404)
      expect(titleOf(html)).toMatch(new RegExp(`^${words.lost.titles[kind]} · .+ · Mountglass$`))
      expect(html).toMatch(new RegExp(`<h2[^>]*>${words.lost.titles[kind]}</h2>`))
      expect(linksOf(html)).toContain('/')
    }
  },
)

test('the part that does not exist is marked in an address that is written from left to right', async () => {
  const { get } = await open(
    {
      mounts: ({ address }) =>
        refusal(
          address.includes('@v9')
            ? 'mount.ref_not_found'
            : address.includes('/docs')
              ? 'mount.path_not_found'
              : 'mount.repo_not_found',
        ),
      files: () => refusal('file.not_found'),
      browse: ({ query }) => (query.get('path') === 'docs' ? browsePage({ path: 'docs' }) : refusal('mount.path_not_found')),
      owners: ({ address }) => (address === 'gh/nobody' ? refusal('owner.not_found') : ownerPage()),
    },
    ON_GITHUB,
  )
  for (const [target, marked] of Object.entries({
    '/gh/acme/gone': /<b class="missing">gone<\/b>/,
    '/gh/acme/tools@v9': /class="ref missing">@<bdi>v9/,
    '/gh/acme/tools/docs/Guide/deep': /<span class="missing"><bdi class="path" dir="ltr">Guide\/<wbr>deep/,
    // Whether the account exists is not asked.
    '/gh/nobody/gone': /<b class="missing">gone<\/b>/,
    '/owners/gh/nobody': /<span class="missing">nobody<\/span>/,
  })) {
    const { html } = await get(target)
    expect(html).toMatch(marked)
    expect(html.match(/class="(?:ref )?missing"/g)).toHaveLength(1)
    expect(tagsOf(html)).toContain('<h1 class="address" dir="ltr">')
  }
})

test('a missing local repository leads to the others of its owner, if there are any', async () => {
  const { get } = await open(
    { mounts: () => refusal('mount.repo_not_found') },
    { listLocal: async () => ['/local/acme/quite-different'] },
  )
  expect(attributesOf((await get('/local/acme/gone?view=browse')).html, 'a', 'href')).toContain('/owners/local/acme')
  expect(attributesOf((await get('/local/lone/gone')).html, 'a', 'href')).not.toContain('/owners/local/lone')
})

test('a missing repository leads to its account and to the search of the host, and nothing is asked about the account', async () => {
  const asked: string[] = []
  const owners = ({ address }: { address: string }) => {
    asked.push(address)
    return ownerPage()
  }
  const { get } = await open({ mounts: () => refusal('mount.repo_not_found'), owners }, ON_GITHUB)
  expect(linksOf((await get('/gh/acme/tool@v1/docs')).html)).toEqual(
    expect.arrayContaining(['/owners/gh/acme', 'https://github.example/search?q=user%3Aacme+tool&type=repositories']),
  )
  expect(asked).toEqual([])
})

test('an account that does not exist leads to featured ones with a similar name', async () => {
  const { get } = await open(
    {
      owners: () => refusal('owner.not_found'),
      featured: () => ({
        items: ['acme', 'other'].map(owner => readyCard({ repository: { ...readyCard().repository, host: 'gh', owner } })),
      }),
    },
    ON_GITHUB,
  )
  const links = linksOf((await get('/owners/gh/acne')).html)
  expect(links).toContain('/owners/gh/acme')
  expect(links).not.toContain('/owners/gh/other')
  expect(links.some(href => href.startsWith('https://github.example/search?'))).toBe(true)
})

test('for a missing local repository, those with a similar name are offered', async () => {
  const listLocal = async () => ['/local/acme/handbook', '/local/other/Handbook', '/local/acme/unlike']
  const { get } = await open({ mounts: () => refusal('mount.repo_not_found') }, { listLocal })
  const links = linksOf((await get('/local/acme/handbok')).html)
  expect(links).toEqual(expect.arrayContaining(['/local/acme/handbook', '/local/other/Handbook']))
  expect(links).not.toContain('/local/acme/unlike')
})

test('a missing ref links to similar refs and to the repository, and the beginning of a hash leads to its commit', async () => {
  const refs: Answers['refs'] = () => ({
    defaultBranch: 'main',
    branches: [{ name: 'main', commit: COMMIT }],
    tags: [{ name: 'v1.2' }],
    truncated: false,
  })
  const { get } = await open({ mounts: () => refusal('mount.ref_not_found'), refs })
  const tag = await get(`${PAGE}@v1.3/docs`)
  expect(textOf(tag.html)).toContain('Nothing here is called v1.3 . Tags: v1.2 Branches: main')
  expect(linksOf(tag.html)).toEqual(expect.arrayContaining([`${PAGE}@v1.2/docs`, PAGE, `${PAGE}?view=refs`]))
  const hash = await get(`${PAGE}@${COMMIT.slice(0, 7).toUpperCase()}/docs?view=browse&lang=de`)
  expect([hash.status, hash.headers.location]).toEqual([302, `${PAGE}@${COMMIT}/docs?view=browse&lang=de`])
})

test('a repository whose default branch does not exist leads to the branches and tags that do', async () => {
  const refs: Answers['refs'] = () => ({
    defaultBranch: 'master',
    branches: [{ name: 'trunk', commit: COMMIT }],
    tags: [{ name: 'v1' }],
    truncated: false,
  })
  const { get } = await open({ mounts: () => new ServiceError('mount.ref_not_found', { case: 'default' }), refs })
  const { html } = await get(PAGE)
  expect(textOf(html)).toContain('Nothing here is called master . The repository names it as its default branch')
  expect(linksOf(html)).toEqual(expect.arrayContaining([`${PAGE}@trunk`, `${PAGE}@v1`]))
  const german = await get(PAGE, 'GET', { 'accept-language': 'de' })
  expect(textOf(german.html)).toContain('Das Repository nennt ihn als Standardbranch, hat aber keinen solchen Branch')
})

test('a repository without a commit is no missing ref', async () => {
  const { get } = await open({ mounts: () => refusal('mount.ref_not_found') })
  expect(titleOf((await get(PAGE)).html)).not.toContain(en.lost.titles.ref)
})

test('a ref that nothing can be compared with is named, and is no part of the address', async () => {
  const { get } = await open({ changes: () => refusal('mount.ref_not_found') })
  const { html } = await get(`${PAGE}@v1?view=changes&from=v0`)
  expect(textOf(html)).toContain('Nothing here is called v0.')
  expect(html).not.toContain('class="ref missing"')
})

test('the beginning of a hash on the old side leads to its commit; one of two commits to a link to each', async () => {
  const refs: Answers['refs'] = () => ({
    defaultBranch: 'main',
    branches: [{ name: 'main', commit: COMMIT }],
    tags: [
      { name: 'v1', commit: `${COMMIT.slice(0, 39)}f` },
      { name: 'v2', commit: 'e'.repeat(40) },
    ],
    truncated: false,
  })
  const { get } = await open({ refs, changes: () => refusal('mount.ref_not_found') })
  const one = await get(`${PAGE}?view=changes&path=a/SKILL.md&from=EEEEEEE`)
  expect([one.status, one.headers.location]).toEqual([302, `${PAGE}?view=changes&path=a%2FSKILL.md&from=${'e'.repeat(40)}`])
  const two = await get(`${PAGE}?view=changes&from=${COMMIT.slice(0, 12)}`)
  expect(two.status).toBe(404)
  const both = [`${PAGE}?view=changes&from=${COMMIT}`, `${PAGE}?view=changes&from=${COMMIT.slice(0, 39)}f`]
  expect(linksOf(two.html)).toEqual(expect.arrayContaining(both))
  const of = await open({ refs, mounts: () => refusal('mount.ref_not_found') })
  const address = await of.get(`${PAGE}@${COMMIT.slice(0, 12)}/docs`)
  expect(address.status).toBe(404)
  expect(linksOf(address.html)).toEqual(
    expect.arrayContaining([`${PAGE}@${COMMIT}/docs`, `${PAGE}@${COMMIT.slice(0, 39)}f/docs`]),
  )
  expect((await get(`${PAGE}?view=changes&from=eeeeee`)).status).toBe(404)
})

test('a missing path shows its existing part, its folder and similar names', async () => {
  const entries = ['docs/guides', 'docs/readme-first', 'docs/other'].map(path => ({
    path,
    kind: 'directory' as const,
    counts: { skills: 0, documents: 1 },
  }))
  const browse = ({ query }: { query: URLSearchParams }) =>
    query.get('path') === 'docs' ? browsePage({ path: 'docs', entries }) : refusal('mount.path_not_found')
  const { get } = await open({
    mounts: ({ address }) => (address.endsWith('tools') ? readyMount() : refusal('mount.path_not_found')),
    files: () => refusal('file.not_found'),
    skills: () => refusal('skill.not_found'),
    browse,
  })
  const folder = await get(`${PAGE}/docs/Guide/deep`)
  expect(textOf(folder.html)).toContain(
    'Nothing to read at docs/Guide : it is not there, or SKILLSET.md leaves it out. Similar names: guides/',
  )
  expect(linksOf(folder.html)).toEqual(expect.arrayContaining([PAGE, `${PAGE}?view=browse&path=docs`, `${PAGE}/docs/guides`]))
  expect(linksOf(folder.html)).not.toContain(`${PAGE}/docs/other`)
  const skill = await get(`${PAGE}?view=skill&path=docs/read-me/SKILL.md`)
  expect(skill.status).toBe(404)
  expect(linksOf(skill.html)).toEqual(expect.arrayContaining([`${PAGE}/docs/readme-first`, `${PAGE}?view=find&query=read%20me`]))
  const taken = await get(`${PAGE}?view=file&path=docs/guides`)
  expect(textOf(taken.html)).toContain('docs/guides is a folder.')
  expect(linksOf(taken.html)).toContain(`${PAGE}?view=browse&path=docs/guides`)
})

test('a path with one misspelt folder leads to the whole path', async () => {
  const entries = [{ path: 'skills', kind: 'directory' as const, counts: { skills: 2, documents: 0 } }]
  const browse = ({ query }: { query: URLSearchParams }) => {
    const path = query.get('path') ?? ''
    return ['', 'skills/pdf'].includes(path)
      ? browsePage({ path, entries: path === '' ? entries : [] })
      : refusal('mount.path_not_found')
  }
  const { get } = await open({
    mounts: ({ address }) => (address.endsWith('tools') ? readyMount() : refusal('mount.path_not_found')),
    files: ({ query }) => (query.get('path') === 'skills/a.md' ? filePage() : refusal('file.not_found')),
    browse,
  })
  const links = async (path: string) => linksOf((await get(`${PAGE}/${path}`)).html)
  expect(await links('skils/pdf')).toEqual(expect.arrayContaining([`${PAGE}/skills/pdf`, `${PAGE}/skills`]))
  expect(await links('skils/a.md')).toContain(`${PAGE}?view=file&path=skills/a.md`)
  expect(await links('skils/none')).not.toContain(`${PAGE}/skills/none`)
})

test('a skill requested by its name alone is found in its folder', async () => {
  const license = { kind: 'open', name: 'MIT', source: 'LICENSE' } as const
  const skill = {
    path: 'skills/pdf/SKILL.md',
    directory: 'skills/pdf',
    name: 'pdf-forms',
    description: '',
    translations: {},
    license,
  }
  const find: Answers['find'] = ({ query }) =>
    findPage({ items: query.get('query') === 'pdf forms' ? [{ kind: 'skill', ...skill, files: [], moreFiles: 0 }] : [] })
  const { get } = await open({
    skills: () => refusal('skill.not_found'),
    browse: () => browsePage({ path: '', entries: [] }),
    find,
  })
  const { html } = await get(`${PAGE}?view=skill&path=pdf-forms`)
  expect(linksOf(html)).toContain(`${PAGE}?view=skill&path=skills/pdf/SKILL.md`)
})
