import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '#test/support/check-answer.ts'
import { simpleAccount } from '#test/support/fake-github/bodies.ts'
import {
  authorizationPayload,
  installationPayload,
  pushPayload,
  repositoryPayload,
  signDelivery,
} from '#test/support/fake-github/webhooks.ts'
import { mistyped } from '#test/support/mistyped.ts'
import { type Browser, openPeopleScene, type PeopleScene } from '#test/support/people-scene.ts'
import { WEBHOOK_SECRET } from '#test/support/test-app.ts'

/** Without a license, so that a public repository would be described only. */
const SKILL = '---\nname: pdf\ndescription: Fills forms\n---\n\n# Pdf\n\nFill the form.\n'
const CLOSED = '/gh/acme/closed'
let scene: PeopleScene
let ada: Browser
let token: string

beforeAll(async () => {
  scene = await openPeopleScene({
    contents: {
      'acme/closed': { 'skills/pdf/SKILL.md': SKILL, 'notes.md': '# Notes\n\nOnly for us.\n' },
      'acme/other': { 'a.md': '# Other\n' },
    },
  })
  await scene.github.shown('acme', 'other', { visibility: 'private' })
  ada = await scene.signIn(scene.ada)
  await ada.get(`/api/v1/mounts${CLOSED}`)
  await scene.index()
  token = await tokenFor(CLOSED)
})
afterAll(() => scene.close())
afterEach(() => {
  expect(scene.github.mistakes).toEqual([])
  scene.github.faults.clear()
  scene.acme.members.set(scene.ada, 'member')
  scene.installation.suspendedAt = null
})

async function tokenFor(address: string): Promise<string> {
  const made = await ada.post('/api/v1/me/tokens', { address, label: 'agent', expiresInDays: 30 })
  expect(made.status).toBe(201)
  return made.json.token
}

const withToken = (url: string, value = token, headers: Record<string, string> = {}): Promise<Answer> =>
  scene.get(url, { headers: { authorization: `Bearer ${value}`, ...headers } })
const codeOf = ({ status, json }: Answer) => `${status} ${json?.error?.code ?? json?.repository?.visibility ?? ''}`
/** More than anything that a person saw is kept. */
const pass = () => scene.advanceClock(31)

describe('reading', () => {
  test('a person reads a private repository in full, under any license, by every endpoint', async () => {
    for (const read of [ada.get, withToken]) {
      expect((await read(`/api/v1/mounts${CLOSED}`)).json).toMatchObject({
        address: CLOSED,
        repository: { visibility: 'private' },
        index: { status: 'ready', counts: { skills: 1 } },
      })
      expect((await read(`/api/v1/skills${CLOSED}?path=skills/pdf/SKILL.md`)).json).toMatchObject({
        status: 'ready',
        skill: { body: expect.stringContaining('Fill the form.'), serving: { full: true } },
      })
      expect((await read(`/api/v1/files${CLOSED}?path=notes.md`)).json).toMatchObject({
        content: expect.stringContaining('Only for us.'),
      })
      expect((await read(`/api/v1/browse${CLOSED}`)).json).toMatchObject({ status: 'ready' })
      expect((await read(`/api/v1/find${CLOSED}?query=form`)).json.items.length).toBeGreaterThan(0)
    }
  })

  test('for everybody else the repository does not exist', async () => {
    const bob = await scene.signIn(scene.bob)
    for (const read of [scene.get, bob.get])
      for (const name of ['mounts', 'browse', 'find', 'skills', 'files']) {
        const query = { find: '?query=form', skills: '?path=skills/pdf/SKILL.md', files: '?path=notes.md' }[name] ?? ''
        expect(codeOf(await read(`/api/v1/${name}${CLOSED}${query}`))).toBe('404 mount.repo_not_found')
      }
  })

  test('no part of the repository is listed, drawn, or offered to install programs', async () => {
    const owner = await scene.get('/api/v1/owners/gh/acme')
    expect(owner.json.repositories.map(({ name }: { name: string }) => name)).toEqual(['tools'])
    for (const browser of [scene, ada]) {
      for (const url of [
        `${CLOSED}/.well-known/agent-skills/index.json`,
        `${CLOSED}/llms.txt`,
        `/badge${CLOSED}`,
        `/icon${CLOSED}`,
        `/social${CLOSED}`,
      ]) {
        const answer = await browser.get(url)
        const missing = await browser.get(url.replace('closed', 'nothing'))
        expect([url, answer.status, answer.body.replaceAll('closed', 'nothing').replace(/[0-9a-f-]{36}/g, '')]).toEqual([
          url,
          missing.status,
          missing.body.replace(/[0-9a-f-]{36}/g, ''),
        ])
      }
    }
  })

  test('its objects and entries are all of the private class', async () => {
    const keys = [...(await scene.blobs.list('')), ...(await scene.states.list(''))]
    expect(keys.filter(key => /(^|\/)prv\//.test(key)).length).toBeGreaterThan(4)
    const { id } = scene.closed
    expect(keys.filter(key => key.includes(`gh-${id}`) && !/(^|\/)prv\//.test(key))).toEqual([])
  })

  test('a person is asked about at GitHub alone: a local repository of the same name is another one', async () => {
    expect(codeOf(await ada.get('/api/v1/mounts/local/acme/nothing'))).toBe('404 mount.repo_not_found')
    const log = scene.github.log
    log.clear()
    await ada.get('/api/v1/mounts/local/acme/never')
    expect(log.all).toEqual([])
  })
})

describe('tokens', () => {
  test('v5.0.0-8.2.2: one that is bad, or of another repository, is refused everywhere, public addresses too', async () => {
    const others = ['/gh/acme/tools', '/gh/acme/other', '/gh/acme/nothing', '/local/acme/tools', '/local/acme/nothing']
    for (const address of others) {
      const answer = await withToken(`/api/v1/mounts${address}`)
      expect([address, codeOf(answer), answer.headers['www-authenticate']]).toEqual([
        address,
        '401 auth.required',
        'Bearer error="invalid_token"',
      ])
    }
    for (const value of ['nonsense', mistyped(token), token.slice(0, -3)])
      for (const address of [CLOSED, '/gh/acme/tools'])
        expect(codeOf(await withToken(`/api/v1/mounts${address}`, value))).toBe('401 auth.required')
  })

  test('a request with a token ignores the cookie', async () => {
    const cookie = [...ada.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    expect(codeOf(await withToken('/api/v1/mounts/gh/acme/other', token, { cookie }))).toBe('401 auth.required')
    expect(codeOf(await withToken(`/api/v1/mounts${CLOSED}`, token, { cookie }))).toBe('200 private')
  })

  test('refs and folders of its repository are readable, in any spelling of the name', async () => {
    expect(codeOf(await withToken('/api/v1/mounts/gh/ACME/Closed@main/skills'))).toBe('200 private')
    expect(codeOf(await withToken(`/api/v1/mounts${CLOSED}@nothing`))).toBe('404 mount.ref_not_found')
  })
})

describe('a change at the host takes effect', () => {
  test('within half a minute when a person loses access, by cookie and by token', async () => {
    scene.acme.members.delete(scene.ada)
    expect(codeOf(await ada.get(`/api/v1/mounts${CLOSED}`))).toBe('200 private')
    pass()
    for (const read of [ada.get, withToken])
      expect(codeOf(await read(`/api/v1/mounts${CLOSED}`))).toBe('404 mount.repo_not_found')
    scene.acme.members.set(scene.ada, 'member')
    scene.advanceClock(11)
    expect(codeOf(await withToken(`/api/v1/mounts${CLOSED}`))).toBe('200 private')
  })

  test('for a suspended App, and for a resumed one', async () => {
    scene.installation.suspendedAt = '2026-01-01T00:00:00Z'
    pass()
    expect(codeOf(await ada.get(`/api/v1/mounts${CLOSED}`))).toBe('404 mount.repo_not_found')
    scene.installation.suspendedAt = null
    scene.advanceClock(11)
    expect(codeOf(await ada.get(`/api/v1/mounts${CLOSED}`))).toBe('200 private')
  })

  test('at once by a webhook', async () => {
    const send = async (event: string, payload: object) => {
      const { headers, body } = signDelivery(scene.githubApp, event, payload as never, { secret: WEBHOOK_SECRET })
      const answer = await scene.app.inject({ method: 'POST', url: '/hooks/github', headers, payload: body })
      expect(answer.statusCode).toBe(202)
    }
    const { github, acme, closed, installation } = scene
    const member = simpleAccount(github.scene, scene.ada)
    expect(codeOf(await ada.get(`/api/v1/mounts${CLOSED}`))).toBe('200 private')

    installation.suspendedAt = '2026-01-01T00:00:00Z'
    await send('installation', await installationPayload(github.scene, installation, 'suspend'))
    expect(codeOf(await ada.get(`/api/v1/mounts${CLOSED}`))).toBe('404 mount.repo_not_found')
    installation.suspendedAt = null
    await send('installation', await installationPayload(github.scene, installation, 'unsuspend'))
    expect(codeOf(await ada.get(`/api/v1/mounts${CLOSED}`))).toBe('200 private')

    acme.members.delete(scene.ada)
    await send('member', await repositoryPayload(github.scene, closed, 'removed', installation, { member }))
    expect(codeOf(await ada.get(`/api/v1/mounts${CLOSED}`))).toBe('404 mount.repo_not_found')
    acme.members.set(scene.ada, 'member')
    await send('member', await repositoryPayload(github.scene, closed, 'added', installation, { member }))
    expect(codeOf(await ada.get(`/api/v1/mounts${CLOSED}`))).toBe('200 private')

    const after = await scene.repository('acme/closed').commit({ 'new.md': '# New\n' })
    const push = { ref: 'refs/heads/main', before: null, after }
    await send('push', await pushPayload(github.scene, closed, push, installation))
    // The commit is indexed before the next visit.
    expect(await scene.index()).toBe(1)
    expect((await ada.get(`/api/v1/mounts${CLOSED}`)).json).toMatchObject({ commit: after, index: { status: 'ready' } })

    await send('github_app_authorization', authorizationPayload(github.scene, scene.bob))
    github.log.clear()
    expect(codeOf(await ada.get(`/api/v1/mounts${CLOSED}`))).toBe('200 private')
    expect(github.log.rest.map(({ path }) => path)).toContain('/repos/acme/closed')
  })

  test('for a repository that became public, for everybody, and within a minute when it is private again', async () => {
    scene.closed.visibility = 'public'
    pass()
    expect(codeOf(await scene.get(`/api/v1/mounts${CLOSED}`))).toBe('200 public')
    // It is indexed anew: what a license withholds from the public is not in the public snapshot.
    await scene.index()
    expect((await ada.get(`/api/v1/skills${CLOSED}?path=skills/pdf/SKILL.md`)).json).toMatchObject({ skill: { body: '' } })
    expect(codeOf(await withToken(`/api/v1/mounts${CLOSED}`))).toBe('200 public')
    scene.closed.visibility = 'private'
    scene.advanceClock(61)
    expect(codeOf(await scene.get(`/api/v1/mounts${CLOSED}`))).toBe('404 mount.repo_not_found')
    expect((await ada.get(`/api/v1/skills${CLOSED}?path=skills/pdf/SKILL.md`)).json.skill.body).toContain('Fill the form.')
    const owner = await scene.get('/api/v1/owners/gh/acme')
    expect(owner.body).not.toContain('closed')
  })

  test('for a renamed and a transferred repository, which is read under both names, by its token too', async () => {
    const { github, closed, acme, ada: person } = scene
    github.world.rename(closed, { name: 'sealed' })
    pass()
    for (const address of [CLOSED, '/gh/acme/sealed'])
      for (const read of [ada.get, withToken])
        expect((await read(`/api/v1/mounts${address}`)).json).toMatchObject({ address: '/gh/acme/sealed' })
    github.world.rename(closed, { owner: person, name: 'closed' })
    github.install(scene.githubApp, person)
    pass()
    expect((await withToken('/api/v1/mounts/gh/ada/closed')).json).toMatchObject({ address: '/gh/ada/closed' })
    github.world.rename(closed, { owner: acme, name: 'closed' })
    pass()
    expect(codeOf(await withToken(`/api/v1/mounts${CLOSED}`))).toBe('200 private')
  })

  test('for a deleted repository, and one that takes its name does not inherit its tokens', async () => {
    const { github, closed } = scene
    github.world.remove(closed)
    pass()
    expect(codeOf(await ada.get(`/api/v1/mounts${CLOSED}`))).toBe('404 mount.repo_not_found')
    const place = { owner: 'acme', name: 'closed', gitDir: closed.gitDir }
    github.repository(place, { visibility: 'private' })
    pass()
    expect(codeOf(await ada.get(`/api/v1/mounts${CLOSED}`))).toBe('200 private')
    expect(codeOf(await withToken(`/api/v1/mounts${CLOSED}`))).toBe('404 mount.repo_not_found')
    const fresh = await tokenFor(CLOSED)
    expect(codeOf(await withToken(`/api/v1/mounts${CLOSED}`, fresh))).toBe('200 private')
    // Also when the successor is public.
    const [successor] = [...github.world.repositories].filter(one => one.gitDir === closed.gitDir)
    if (successor) successor.visibility = 'public'
    pass()
    expect(codeOf(await withToken(`/api/v1/mounts${CLOSED}`))).toBe('404 mount.repo_not_found')
  })
})

describe('a host that cannot be asked', () => {
  test('is 503, never an earlier answer', async () => {
    const other = '/api/v1/mounts/gh/acme/other'
    expect(codeOf(await ada.get(other))).toBe('200 private')
    for (const [fault, code] of [
      [{ status: 500 }, '503 mount.unavailable'],
      [{ status: 403, headers: { 'x-ratelimit-remaining': '0' }, body: '{"message":"limit"}' }, '503 mount.rate_limited'],
    ] as const) {
      pass()
      scene.github.faults.add({ match: { host: 'api', path: '/repos/acme/other' }, times: 4, ...fault })
      expect(codeOf(await ada.get(other))).toBe(code)
      scene.github.faults.clear()
      scene.advanceClock(3600)
    }
  })

  test('with an ended sign-in: a cookie counts as signed out, a token is refused', async () => {
    const fresh = await tokenFor('/gh/acme/other')
    for (const [value, { kind }] of scene.github.world.tokens) if (kind === 'user') scene.github.world.tokens.delete(value)
    scene.github.world.refreshTokens.clear()
    pass()
    const answer = await withToken('/api/v1/mounts/gh/acme/other', fresh)
    expect(codeOf(answer)).toBe('401 auth.required')
    expect(codeOf(await ada.get('/api/v1/mounts/gh/acme/other'))).toBe('404 mount.repo_not_found')
    expect((await ada.get('/api/v1/me')).json).toEqual({ user: null })
    ada = await scene.signIn(scene.ada)
    expect(codeOf(await withToken('/api/v1/mounts/gh/acme/other', fresh))).toBe('200 private')
  })
})
