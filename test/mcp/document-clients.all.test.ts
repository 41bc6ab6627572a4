import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWebDocuments } from '#infra/web-documents.ts'
import { signInAt } from '#test/support/signed-in.ts'
import { openTestWeb } from '#test/support/web-server.ts'
import { openPeopleSite, type PeopleSite } from '../site/support/people-site.ts'
import { FOREIGN_CLIENTS, type ForeignClient, Keeper, METADATA, providerOf, readSkill } from './foreign-apps.ts'
import { openPerson, type Person } from './person.ts'

/*
 * The clients of the protocol as they are published, whose id is the URL of their metadata (a client id metadata document). The document lies on
 * a web of this machine, and is read over TLS as every other; only names resolve as the test wants.
 */

const APP = 'https://client.example/client.json'
const CLOSED = '/gh/acme/closed'

let web: Awaited<ReturnType<typeof openTestWeb>>
let site: PeopleSite
let person: Person
let cookie: string
beforeAll(async () => {
  web = await openTestWeb(({ url }, response) =>
    response
      .setHeader('content-type', 'application/json')
      // Longer than the tests may take on any machine: without it a document is remembered for half a minute.
      .setHeader('cache-control', 'max-age=86400')
      .end(JSON.stringify({ ...METADATA, client_id: `https://client.example${url}`, client_uri: 'https://client.example/' })),
  )
  site = await openPeopleSite({ documents: openWebDocuments({ bytes: 5 * 1024, milliseconds: 60_000 }, web) })
  const ada = await site.signIn(site.ada)
  await ada.get(`/api/v1/mounts${CLOSED}`)
  await site.index()
  person = await openPerson(site.origin, async () => {
    cookie = await signInAt(site.origin, site.github, site.githubApp, site.ada)
    return cookie
  })
})
afterAll(async () => {
  await person?.close()
  await site?.close()
  web?.close()
})

const url = () => new URL(`${site.origin}/mcp${CLOSED}`)
const read = (client: ForeignClient, keeper: Keeper) => readSkill(client, url(), keeper, 'one/SKILL.md')

/** Connects an installation of the app, as far as to read. */
async function connect(client: ForeignClient, id: string): Promise<Keeper> {
  const keeper = new Keeper(id)
  await expect(read(client, keeper)).rejects.toThrow(/unauthorized/i)
  const { location } = keeper.kept
  if (!location) throw new Error('the client sent nobody anywhere')
  expect(location.searchParams.get('client_id')).toBe(id)
  await client.finish(url(), providerOf(keeper), await person.decide(location))
  expect(await read(client, keeper)).toContain('Do it.')
  return keeper
}

interface Listed {
  items: { id: string; client: { name: string; uri: string | null }; address: string }[]
}
const own = (method: string, path = '') =>
  fetch(`${site.origin}/api/v1/me/grants${path}`, {
    method,
    headers: { cookie, origin: site.origin, 'sec-fetch-site': 'same-origin' },
  })

describe.each(FOREIGN_CLIENTS)('%s', (name, client) => {
  const id = `${APP}?${name.length}`

  test('sends the URL of its metadata, is approved, reads and refreshes by itself', async () => {
    const keeper = await connect(client, id)
    expect(keeper.kept.client?.client_id).toBe(id)
    const first = keeper.kept.tokens
    keeper.kept.tokens = { ...first, access_token: 'mga_forgotten' }
    expect(await read(client, keeper)).toContain('Do it.')
    expect(keeper.kept.tokens?.refresh_token).not.toBe(first?.refresh_token)
  })

  test('two installations are one app to the person, and after its end both are sent to the service again', async () => {
    const keepers = [await connect(client, id), await connect(client, id)]
    const { items } = (await (await own('GET')).json()) as Listed
    expect(items).toMatchObject([{ client: { name: 'An app', uri: 'https://client.example/' }, address: CLOSED }])
    expect((await own('DELETE', `/${items[0]?.id}`)).status).toBe(204)
    for (const keeper of keepers) {
      delete keeper.kept.location
      await expect(read(client, keeper)).rejects.toThrow(/unauthorized/i)
      expect(keeper.kept.location).toBeDefined()
    }
  })
})

test('each document was read once', () => {
  expect(web.asked.sort()).toEqual(FOREIGN_CLIENTS.map(([name]) => `/client.json?${name.length}`).sort())
})
