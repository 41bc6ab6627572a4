import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import repository from '@octokit/fixtures/scenarios/api.github.com/get-repository/normalized-fixture.json' with { type: 'json' }
import rename from '@octokit/fixtures/scenarios/api.github.com/rename-repository/normalized-fixture.json' with { type: 'json' }
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openGitHubHost } from '#infra/github/host.ts'
import { systemClock } from '#infra/system/system.ts'

/** An exchange with GitHub, as `@octokit/fixtures` recorded it. */
interface Recorded {
  method: string
  path: string
  status: number
  response: unknown
  headers: Record<string, string>
}

const ORGANIZATION = 'octokit-fixture-org'
const exchanges = [repository, rename].flat() as unknown as Recorded[]
let origin: string

/** Answers as GitHub did; only the origin in addresses is this one. Its git shows every repository without refs. */
const replay = createServer((request, response) => {
  if (request.method === 'POST') {
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' }).end('0000')
    return
  }
  const recorded = exchanges.find(({ method, path }) => method.toLowerCase() === 'get' && path === request.url)
  if (!recorded) return void response.writeHead(404).end()
  const { 'content-length': _, ...headers } = recorded.headers
  const moved = Object.entries(headers).map(([name, value]) => [name, here(value)])
  response.writeHead(recorded.status, Object.fromEntries(moved)).end(here(JSON.stringify(recorded.response)))
})

function here(text: string): string {
  return String(text).replaceAll('https://api.github.com', origin)
}

beforeAll(async () => {
  await new Promise<void>(resolve => replay.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(replay.address() as AddressInfo).port}`
})
afterAll(() => void replay.close())

const open = () =>
  openGitHubHost({
    url: origin.replace('127.0.0.1', 'localhost'),
    apiUrl: origin,
    token: null,
    webhookSecret: null,
    clock: systemClock,
    onWarning: message => expect.fail(message),
  })

test('a recorded repository is read', async () => {
  const host = await open()
  expect(await host.repository(ORGANIZATION, 'hello-world')).toMatchObject({
    status: 'ok',
    value: { id: 'gh-1000', owner: ORGANIZATION, name: 'hello-world', visibility: 'public', defaultBranch: 'master' },
  })
  await host.close()
})

test('a recorded rename is followed to the new name', async () => {
  const host = await open()
  expect(await host.repository(ORGANIZATION, 'rename-repository')).toMatchObject({
    status: 'ok',
    value: { id: 'gh-1000', name: 'rename-repository-newname' },
  })
  await host.close()
})
