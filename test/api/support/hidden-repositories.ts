import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { injectTransport, sitePlugin } from '#site/server.ts'
import type { FakeGitHub } from '#test/support/fake-github/server.ts'
import type { Repository } from '#test/support/fake-github/world.ts'
import { PATIENT_RENDERING } from '#test/support/patient.ts'
import { recordedStore } from '#test/support/recorded-store.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'
import { ensureBuilt } from '../../site/support/built-site.ts'

const FILES = {
  'package.json': '{"license":"MIT"}\n',
  'one/SKILL.md': '---\nname: one\ndescription: The first.\n---\nDo it.\n',
  'docs/guide.md': '# Guide\n',
}

export const byOwner = (github: FakeGitHub) => github.personalToken(github.user('acme'))
export const byOwnerThroughApp = (github: FakeGitHub) => {
  const [app, acme] = [github.app('mount'), github.user('acme')]
  github.install(app, acme)
  return github.userTokens(app, acme).access_token
}
export const byApp = (github: FakeGitHub) => github.installationToken(github.install(github.app('mount'), github.user('acme')))
export const byStranger = (github: FakeGitHub) => github.personalToken(github.user('reader'), [])

/** Who holds the token of the service, and what a repository was before it was hidden. All but the stranger see what is hidden here. */
export interface HiddenCase {
  who: string
  what: string
  tokenOf(github: FakeGitHub): string
  isOpened: boolean
}

type Hide = (repository: Repository) => void

/** What nobody may tell from each other. */
const STATES: [what: string, hide: Hide][] = [
  ['absent', repository => app.github.world.remove(repository)],
  ['private', repository => Object.assign(repository, { visibility: 'private' })],
  ['internal', repository => Object.assign(repository, { visibility: 'internal' })],
  [
    'private under another name',
    repository => {
      repository.visibility = 'private'
      app.github.world.rename(repository, { name: `moved-${repository.name}` })
    },
  ],
]

/** Everything that takes an address. */
const ROUTES = [
  '/api/v1/mounts/gh/acme/NAME',
  '/api/v1/mounts/gh/acme/NAME@main',
  '/api/v1/mounts/gh/acme/NAME@refs%2Fheads%2Fmain',
  '/api/v1/mounts/gh/acme/NAME@COMMIT',
  '/api/v1/browse/gh/acme/NAME?path=docs',
  '/api/v1/find/gh/acme/NAME?query=first',
  '/api/v1/skills/gh/acme/NAME?path=one/SKILL.md',
  '/api/v1/skills/gh/acme/NAME@COMMIT?path=one/SKILL.md',
  '/api/v1/files/gh/acme/NAME?path=docs/guide.md',
  '/git/gh/acme/NAME/raw/COMMIT/docs/guide.md',
  '/gh/acme/NAME',
  '/gh/acme/NAME@main/docs',
  '/gh/acme/NAME?view=browse&path=docs',
  '/gh/acme/NAME?view=find&query=first',
  '/gh/acme/NAME?view=skill&path=one/SKILL.md',
  '/gh/acme/NAME?view=file&path=docs/guide.md',
]
const OWNER_ROUTES = ['/api/v1/owners/gh/acme', '/owners/gh/acme']

let app: TestApp
let origin: string
let made: number
const storeCalls: string[] = []

async function start(tokenOf: (github: FakeGitHub) => string): Promise<void> {
  await ensureBuilt()
  made = 0
  app = await testApp(
    { 'acme/shown': FILES },
    {
      blobs: recordedStore<BlobStore>(createMemoryBlobStore(systemClock), storeCalls),
      states: recordedStore<StateStore>(createMemoryStateStore(), storeCalls),
      github: { withToken: true, tokenOf },
      site: async instance => {
        const client = createApiClient(injectTransport(instance))
        await instance.register(sitePlugin, { client, baseUrl: BASE_URL, hosts: ['local', 'gh'], rendering: PATIENT_RENDERING })
      },
    },
  )
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://127.0.0.1:${(app.app.server.address() as AddressInfo).port}`
  // What the token may see is told by the first answer.
  await app.open('/gh/acme/shown')
}

async function close(): Promise<void> {
  expect(app.github.mistakes).toEqual([])
  await app.close()
}

interface Made {
  name: string
  commit: string
  shown: Repository
}

/** A repository, by a name of always the same length. */
async function make(): Promise<Made> {
  const name = `hidden-${String(++made).padStart(4, '0')}`
  const repository = await app.repositories.create('acme', name)
  const commit = await repository.commit(FILES)
  return { name, commit, shown: await app.github.shown('acme', name) }
}

/** Opens what the routes ask for, while everyone sees it. */
async function openAll(all: readonly { route: string; one: Made }[]): Promise<void> {
  const open = async () => {
    for (const { route, one } of all) {
      const ref = (/NAME(@[^/?]+)/.exec(route)?.[1] ?? '').replace('COMMIT', one.commit)
      expect((await app.get(`/api/v1/mounts/gh/acme/${one.name}${ref}`)).status).toBe(200)
    }
  }
  await open()
  await app.index()
  await open()
}

/** Whatever a visitor and the outside world see of a request, without the names that differ. */
async function watch(route: string, { name, commit }: Made) {
  await app.deps.hidden.written()
  app.github.log.clear()
  storeCalls.length = 0
  const neutral = (text: string) => {
    const { web, avatars } = app.github.origins
    const names: [string, string][] = [
      [name, 'NAME'],
      [commit, 'COMMIT'],
      [web, 'WEB'],
      [avatars, 'AVATARS'],
    ]
    const named = names.reduce((rest, [from, to]) => rest.replaceAll(from, to), text)
    return named.replace(/\/\w+\/gh-\d+/g, '/ID').replace(/gh-\d+/g, 'ID')
  }
  const answer = await fetch(origin + route.replace('NAME', name).replace('COMMIT', commit), { redirect: 'manual' })
  const { 'x-request-id': _, date: __, ...headers } = Object.fromEntries(answer.headers)
  // How well it compresses depends on the names; the text itself is compared.
  if (headers['content-encoding']) delete headers['content-length']
  const body = neutral(await answer.text())
  // What is noted behind an answer.
  await app.deps.hidden.written()
  const asked = app.github.log.all.map(({ host, method, path, status, credential }) => {
    return neutral(`${host} ${method} ${path} ${status} as ${credential}`)
  })
  return { status: answer.status, headers, body, asked, stores: storeCalls.map(neutral) }
}

/** What nobody can tell from a repository that is not there, at every address. */
export function hiddenAsAbsent({ tokenOf, isOpened }: HiddenCase): void {
  test('is answered at every address as a missing one', async () => {
    await start(tokenOf)
    const all = []
    for (const route of ROUTES) for (const [what, hide] of STATES) all.push({ route, what, hide, one: await make() })
    if (isOpened) await openAll(all)
    for (const { hide, one } of all) hide(one.shown)
    app.advanceClock(400)
    const answers = new Map<string, Awaited<ReturnType<typeof watch>>>()
    for (const { route, what, one } of all) {
      const answer = await watch(route, one)
      expect(answer.status, route).toBe(404)
      if (!isOpened) expect(answer.stores, route).toEqual([])
      if (what === 'absent') answers.set(route, answer)
      expect(answer, `${what}: ${route}`).toEqual(answers.get(route))
    }
    await close()
  })

  test('is as absent from the page of its owner as a missing one', async () => {
    const answers: unknown[] = []
    for (const [, hide] of STATES) {
      await start(tokenOf)
      const one = await make()
      if (isOpened) await openAll([{ route: '/NAME', one }])
      hide(one.shown)
      app.advanceClock(400)
      const seen = []
      for (const route of OWNER_ROUTES) {
        const { asked, ...answer } = await watch(route, one)
        // Some of it is asked side by side, and arrives in any order.
        seen.push({ ...answer, asked: asked.toSorted() })
      }
      expect(seen.map(({ status }) => status)).toEqual([200, 200])
      expect(seen[0]?.body).toContain('/gh/acme/shown')
      expect(JSON.stringify(seen)).not.toContain('The first.')
      answers.push(seen)
      await close()
    }
    for (const [index, answer] of answers.entries()) expect(answer, STATES[index]?.[0]).toEqual(answers[0])
  })
}
