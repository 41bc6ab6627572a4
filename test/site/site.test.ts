import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Question, readyMount, refusal, skillPage } from './support/answers.ts'
import { attributesOf, tagsOf, textOf } from './support/html.ts'
import { openSite, type Site } from './support/site.ts'

let site: Site
const questions: Question[] = []

beforeAll(async () => {
  site = await openSite(
    {
      mounts: question => {
        questions.push(question)
        return question.address.startsWith('local/acme/tools') ? readyMount() : refusal('mount.repo_not_found')
      },
      skills: () => skillPage(),
    },
    { hosts: ['gh', 'local'] },
  )
})
afterAll(() => site.close())

test.each([
  ['local/acme/tools', '/local/acme/tools'],
  ['/local/acme/tools/', '/local/acme/tools'],
  ['https://github.com/acme/tools', '/gh/acme/tools'],
])('%s opens as %s', async (words, location) => {
  const { status, headers } = await site.get(`/open?address=${encodeURIComponent(words)}`)
  expect(status).toBe(302)
  expect(headers.location).toBe(location)
})

test('a text that is no address is shown again with its fault', async () => {
  const { status, html } = await site.get('/open?address=local%2F')
  expect(status).toBe(400)
  expect(textOf(html)).toContain('Which repository?')
  expect(attributesOf(html, 'input', 'value')).toContain('local/')
})

test('a page has its styles, the script of its colors and one more, and the policy lets no others in', async () => {
  for (const target of [
    '/',
    '/open',
    '/nothing',
    '/local/acme/tools',
    '/local/acme/gone',
    '/local/acme/tools?view=skill&path=x',
    '/owners/gh/acme',
  ]) {
    const { headers, html } = await site.get(target)
    expect(tagsOf(html).filter(tag => /^<(?:script|style)\b|\sstyle=/i.test(tag))).toEqual([
      '<script>',
      '<style>',
      // Shows the addresses that were opened lately, before the first paint.
      ...(target === '/' ? ['<script>'] : []),
      '<script type="module">',
    ])
    const policy = String(headers['content-security-policy'])
    for (const part of ["default-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"])
      expect(policy).toContain(part)
    expect(policy).not.toContain('unsafe')
    expect(headers).toMatchObject({
      'content-type': expect.stringContaining('text/html'),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  }
})

test('resources of a page exist, on this origin', async () => {
  const { html } = await site.get('/')
  const loaded = attributesOf(html, 'link', 'href').filter(href => href.startsWith('/'))
  expect(loaded.some(href => href.endsWith('.woff2'))).toBe(true)
  for (const href of loaded) {
    const { status, headers } = await site.get(href)
    expect(status).toBe(200)
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['cache-control']).toContain(href.startsWith('/_a/') ? 'immutable' : 'max-age')
  }
  expect(
    tagsOf(html).filter(
      tag => /\s(?:src|href|action)="(?:https?:)?\/\//.test(tag) && !/canonical|mcp-server|agent-skills|hreflang/.test(tag),
    ),
  ).toEqual([])
})

test('a path without a page has the error page, below the API an error of the API', async () => {
  const page = await site.get('/nothing/here')
  expect(page.status).toBe(404)
  expect(textOf(page.html)).toContain('There is no page at /nothing/here .')
  expect(attributesOf(page.html, 'a', 'href')).toEqual(expect.arrayContaining(['/', '/docs']))
  expect(textOf((await site.get('/docs/none?x=1')).html)).toContain('There is no page at /docs/none .')
  const answer = await site.get('/api/v1/nothing')
  expect(answer.status).toBe(404)
  expect(JSON.parse(answer.html)).toMatchObject({ error: { code: 'request.not_found' } })
})

test.each([
  ['/local/acme/tools/%ZZ', 'address.invalid_escape'],
  ['/local/acme/tools/%FF', 'address.invalid_escape'],
  ['/local/acme/tools/../secret', 'address.invalid_path'],
  ['/local/acme/tools/%2e%2e/secret', 'address.invalid_path'],
  ['/local/acme/tools//docs', 'address.invalid_path'],
  ['/local/acme/tools/a%2Fb', 'address.invalid_path'],
  ['/local/acme/tools@', 'address.invalid_ref'],
  ['/local/', 'address.incomplete'],
  [`/local/acme/tools/${'a'.repeat(3000)}`, 'address.too_long'],
])('the raw address %s is a page with its code', async (target, code) => {
  const { status, headers, html } = await site.get(target)
  expect(status).toBe(400)
  expect(headers['content-type']).toContain('text/html')
  expect(html).toContain(`data-code="${code}"`)
})

test.each([
  ['/local/acme/tools/c++', 'local/acme/tools/c++'],
  ['/local/acme/tools/%5Bboop%5D', 'local/acme/tools/%5Bboop%5D'],
  ['/local/acme/tools/%255B', 'local/acme/tools/%255B'],
  ['/local/acme/tools/a%20b', 'local/acme/tools/a%20b'],
  ['/local/acme/tools/%E6%97%A5', 'local/acme/tools/%E6%97%A5'],
  ['/local/acme/tools/%23', 'local/acme/tools/%23'],
  ['/local/acme/tools@feature%2Fx/~', 'local/acme/tools@feature%2Fx/~'],
])('the address %s reaches the API decoded not once too often', async (target, asked) => {
  questions.length = 0
  await site.get(target)
  expect(new Set(questions.map(question => question.address))).toEqual(new Set([asked]))
})

test.each([
  ['/', 200, 'OK'],
  ['/open?address=local/acme/tools', 302, 'Found'],
  ['/local/acme/tools?view=nonsense', 400, 'Bad Request'],
  ['/nothing', 404, 'Not Found'],
])('the words beside the status of %s are those of the status', async (target, status, reason) => {
  expect(await site.get(target)).toMatchObject({ status, reason })
})

test('HEAD answers as GET does, without the page', async () => {
  const { status, headers, html } = await site.get('/local/acme/gone', 'HEAD')
  expect(status).toBe(404)
  expect(headers['content-type']).toContain('text/html')
  expect(html).toBe('')
})

test('an unhandled rejection outside of a page ends the process, as it does without the site', () => {
  const program = fileURLToPath(new URL('./support/lost-rejection.ts', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8' })
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toContain('Error: lost')
})

test.each([
  ['/local/acme/tools/docs', 'v1', '/local/acme/tools@v1/docs'],
  ['/local/acme/tools', ' feature/a b ', '/local/acme/tools@feature%2Fa%20b'],
  ['/local/acme/tools', '', '/local/acme/tools'],
  ['/local/acme/tools', '//evil', '/local/acme/tools@%2F%2Fevil'],
])('%s at the ref %s is %s', async (address, ref, location) => {
  const { status, headers, html } = await site.get(`/open?${new URLSearchParams({ address, ref })}`)
  if (status === 302) expect(headers.location).toBe(location)
  else expect(textOf(html)).toContain('is not a branch, a tag or a commit name')
})
