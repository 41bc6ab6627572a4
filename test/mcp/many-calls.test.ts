import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { countStore } from '#test/support/counted-store.ts'
import { handClock } from '#test/support/store-values.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { until } from '#test/support/until.ts'
import { listen, message } from './scene.ts'

const ADDRESS = '/local/acme/tools'
const CALLS = 200

let app: TestApp
let origin: string
beforeAll(async () => {
  app = await testApp({
    'acme/tools': {
      'package.json': '{"license":"MIT"}\n',
      'one/SKILL.md': `---\nname: one\ndescription: One.\n---\n${'A line of the skill.\n'.repeat(1_000)}`,
    },
  })
  await app.open(ADDRESS)
  origin = await listen(app)
})
afterAll(() => app.close())

const CALL = message('tools/call', { name: 'load_skill', arguments: { path: 'one/SKILL.md' } })

async function call(): Promise<number> {
  const answer = await fetch(`${origin}/mcp${ADDRESS}`, { method: 'POST', headers: CALL.headers, body: CALL.payload })
  const { result } = (await answer.json()) as { result: { isError?: boolean } }
  return result.isError === true ? 500 : answer.status
}

const connections = () => new Promise<number>(resolve => app.app.server.getConnections((_error, count) => resolve(count)))

test(`${CALLS} calls at once are all answered`, async () => {
  const statuses = await Promise.all(Array.from({ length: CALLS }, call))
  expect(new Set(statuses)).toEqual(new Set([200]))
})

test('clients that go away in the middle leave nothing behind', async () => {
  const before = await connections()
  await Promise.all(
    Array.from({ length: CALLS }, async (_, number) => {
      const sent = request(`${origin}/mcp${ADDRESS}`, { method: 'POST', headers: CALL.headers, agent: false })
      const gone = new Promise<void>(resolve => sent.once('close', () => resolve()))
      sent.on('error', () => {})
      // Some before the whole question was sent, some before the answer, some while it arrives.
      if (number % 3 === 0) sent.write(CALL.payload.slice(0, 20), () => sent.destroy())
      else if (number % 3 === 1) sent.end(CALL.payload, () => sent.destroy())
      else sent.end(CALL.payload).once('response', response => response.once('data', () => sent.destroy()))
      await gone
    }),
  )
  await until(async () => (await connections()) <= before)
  expect(await call()).toBe(200)
})

test('the call of a client that disconnects reads nothing more', async () => {
  const counted = countStore(createMemoryBlobStore(handClock('2026-01-01T00:00:00Z')))
  const files = { 'package.json': '{"license":"MIT"}\n', 'one/SKILL.md': '---\nname: one\ndescription: One.\n---\nDo it.\n' }
  const held = await testApp({ 'acme/tools': files }, { blobs: counted.blobs })
  let [gate, reached] = [Promise.resolve(), () => {}]
  const resolve = held.host.resolve.bind(held.host)
  held.host.resolve = async (repository, ref) => {
    reached()
    await gate
    return await resolve(repository, ref)
  }
  await held.open(ADDRESS)
  const url = `${await listen(held)}/mcp${ADDRESS}`
  const post = () => fetch(url, { method: 'POST', headers: CALL.headers, body: CALL.payload })
  // The first call learns how the host spells the address.
  await (await fetch(url, { method: 'POST', ...withBody(message('tools/list')) })).text()

  counted.reset()
  const open = Promise.withResolvers<void>()
  const opening = new Promise<void>(resolve => (reached = resolve))
  gate = open.promise
  const sent = request(url, { method: 'POST', headers: CALL.headers, agent: false })
  sent.on('error', () => {})
  sent.end(CALL.payload)
  await opening
  sent.destroy()
  await new Promise(resolve => sent.once('close', resolve))
  await until(
    async () => (await new Promise<number>(resolve => held.app.server.getConnections((_, count) => resolve(count)))) <= 1,
  )
  open.resolve()
  gate = Promise.resolve()
  await held.ask('mounts', ADDRESS)
  expect(counted.counts.gets).toBe(0)

  expect((await post()).status).toBe(200)
  expect(counted.counts.gets).toBeGreaterThan(0)
  await held.close()
})

function withBody({ headers, payload }: ReturnType<typeof message>) {
  return { headers, body: payload }
}
