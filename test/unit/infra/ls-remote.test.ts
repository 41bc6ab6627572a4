import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { createCredential } from '#infra/github/credential.ts'
import { createGitPauses } from '#infra/github/git-pauses.ts'
import { createGitRemotes } from '#infra/github/git-remotes.ts'
import { createLsRemote } from '#infra/github/ls-remote.ts'
import { until } from '#test/support/until.ts'

let host: Server
let refs: number
let requests: number

beforeEach(async () => {
  requests = 0
  host = createServer((request, response) => {
    requests++
    if (request.url?.startsWith('/none-')) return
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' }).end(listing())
    })
  })
  await new Promise<void>(resolve => host.listen(0, '127.0.0.1', resolve))
})

afterEach(async () => {
  host.closeAllConnections()
  await new Promise(resolve => host.close(resolve))
})

function listing(): string {
  const lines = Array.from({ length: refs }, (_, index) => `${`${index}`.padStart(40, '0')} refs/heads/branch-${index}\n`)
  return `${lines.map(line => `${(line.length + 4).toString(16).padStart(4, '0')}${line}`).join('')}0000`
}

const remotesOf = (clock: Clock) =>
  createGitRemotes({
    url: `http://127.0.0.1:${(host.address() as AddressInfo).port}`,
    credential: createCredential(null, clock),
    warn: message => expect.fail(message),
    pauses: createGitPauses(clock),
  })

test('endless invented accounts delay neither known repositories nor new ones of an existing account', async () => {
  const closing = new AbortController()
  const clock = { now: () => new Date(0) }
  const lsRemote = createLsRemote({
    remotes: remotesOf(clock),
    clock,
    closing: closing.signal,
    answerMs: 1_000_000,
  })
  refs = 1
  const look = (owner: string, name: string, isKnown = false) => lsRemote.look({ owner, name }, isKnown, true)
  expect(await look('acme', 'first')).toMatchObject({ status: 'ok' })
  const madeUp = Array.from({ length: 200 }, (_, number) => look(`none-${number}`, 'tools'))
  expect(await look('Acme', 'second')).toMatchObject({ status: 'ok' })
  expect(await look('acme', 'first', true)).toMatchObject({ status: 'ok' })
  await until(() => requests === 3 + 10)
  closing.abort()
  const statuses = (await Promise.all(madeUp)).map(({ status }) => status)
  expect(statuses.filter(status => status === 'busy')).toHaveLength(200 - 10 - 64)
  expect(requests).toBe(3 + 10)
})

test('too many branches and tags to cache are listed once in five minutes, for any callers', async () => {
  let milliseconds = 0
  const clock = { now: () => new Date(milliseconds) }
  const lsRemote = createLsRemote({
    remotes: remotesOf(clock),
    clock,
    closing: new AbortController().signal,
    // A long list on a busy machine takes longer than the product waits.
    answerMs: 1_000_000,
  })
  const repository = { id: 'gh-1', owner: 'acme', name: 'tools' } as HostRepository
  const ask = () => lsRemote.list(repository, 30)

  refs = 100_000
  expect(await ask()).toMatchObject({ status: 'unavailable' })
  milliseconds = 299_000
  expect(await ask()).toMatchObject({ status: 'unavailable' })
  expect(requests).toBe(1)

  refs = 60_000
  milliseconds = 301_000
  expect(await ask()).toMatchObject({ status: 'ok' })
  milliseconds += 29_000
  expect(await ask()).toMatchObject({ status: 'ok' })
  expect(requests).toBe(2)

  refs = 100_000
  milliseconds += 2_000
  expect(await ask()).toMatchObject({ status: 'unavailable' })
  lsRemote.forget(repository.id)
  expect(await ask()).toMatchObject({ status: 'unavailable' })
  expect(requests).toBe(4)
})
