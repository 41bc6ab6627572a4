import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAgentToken } from '#api/people/agent-tokens.ts'
import type { People } from '#api/people/people.ts'
import { createMemoryStateStore } from '#infra/memory-stores.ts'
import type { Answer } from '#test/support/check-answer.ts'
import { openTestPeople } from '#test/support/open-test-people.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'

/** Without a license, so that a public repository would be described only. */
const SKILL = '---\nname: pdf\ndescription: Fills forms\n---\n\nFill the form.\n'
const keys = [{ kid: 'test', key: Buffer.alloc(32, 7).toString('base64url') }]
const CLOSED = '/local/acme/closed'
let app: TestApp
let people: People
let token: string

beforeAll(async () => {
  const states = createMemoryStateStore()
  app = await testApp(
    { 'acme/closed': { 'SKILL.md': SKILL }, 'acme/open': { 'SKILL.md': SKILL }, 'acme/other': { 'SKILL.md': SKILL } },
    {
      states,
      keys,
      deps: deps => {
        people = openTestPeople(null, {
          states,
          keys,

          clock: deps.clock,
          baseUrl: BASE_URL,
          log: () => app.app.log,
        })
        return { ...deps, people }
      },
    },
  )
  for (const name of ['acme/closed', 'acme/other']) await writeFile(markerOf(name), '')
  token = await operatorToken('closed')
})
afterAll(() => app.close())

const markerOf = (name: string) => join(app.repository(name).gitDir, 'mountglass-private')

async function operatorToken(name: string): Promise<string> {
  const found = await app.host.repository('acme', name)
  if (found.status !== 'ok') throw new Error(found.status)
  const operator = people.context.recordIds.operator()
  const plan = { repository: found.value, label: 'agent', expiresInDays: 30 }
  const base = { v: 1, uk: operator, since: '', host: null, cred: null, sessions: [], tokens: [] } as const
  const made = await createAgentToken(people.context, operator, plan, { ...base, sessions: [], tokens: [] })
  if (made === null) throw new Error('no token')
  return made.token
}

const read = (address: string, value: string | null = token) =>
  app.get(`/api/v1/mounts${address}`, value === null ? {} : { headers: { authorization: `Bearer ${value}` } })
const codeOf = ({ status, json }: Answer) => `${status} ${json?.error?.code ?? json?.repository?.visibility ?? ''}`

test("the marker hides a local repository from everybody but the holder of the operator's token for it", async () => {
  expect(codeOf(await read(CLOSED, null))).toBe('404 mount.repo_not_found')
  expect(codeOf(await read(CLOSED))).toBe('200 private')
  expect(await app.index()).toBe(1)
  const answer = await app.get(`/api/v1/skills${CLOSED}?path=SKILL.md`, { headers: { authorization: `Bearer ${token}` } })
  expect(answer.json.skill).toMatchObject({ body: expect.stringContaining('Fill the form.'), serving: { full: true } })
  const keysOf = [...(await app.blobs.list('')), ...(await app.states.list(''))]
  expect(keysOf.filter(key => !/(^|\/)prv\//.test(key))).toEqual([])
})

test('the token reads nothing else, public or not, there or not', async () => {
  for (const address of ['/local/acme/other', '/local/acme/open', '/local/acme/nothing'])
    expect([address, codeOf(await read(address))]).toEqual([address, '401 auth.required'])
})

test('without sign-in, an agent without a token is not asked to sign in', async () => {
  const answer = await app.app.inject({
    method: 'POST',
    url: `/mcp${CLOSED}`,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  expect([answer.statusCode, answer.headers['www-authenticate']]).toEqual([404, undefined])
})

test('without the marker everybody reads the repository, from the snapshot of the public class', async () => {
  await rm(markerOf('acme/closed'))
  expect(codeOf(await read(CLOSED, null))).toBe('200 public')
  expect(await app.index()).toBe(1)
  const { json } = await app.get(`/api/v1/skills${CLOSED}?path=SKILL.md`)
  expect(json.skill).toMatchObject({ body: '', serving: { full: false } })
  await writeFile(markerOf('acme/closed'), '')
  expect(codeOf(await read(CLOSED, null))).toBe('404 mount.repo_not_found')
})
