import type { Deps } from '#api/deps.ts'
import { listedRepositories } from '#api/front/search.ts'
import { authorize } from '#api/oauth/authorize.ts'
import type { OAuthDeps } from '#api/oauth/oauth.ts'
import { pagePeople } from '#api/people/page-people.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { injectTransport, sitePlugin } from '#site/server.ts'
import { freePort } from '../../../scripts/servers/free-port.mjs'
import { CHALLENGE, keyOf, REQUESTER, register } from '../../support/oauth-scene.ts'
import { PATIENT_RENDERING } from '../../support/patient.ts'
import { openPeopleScene, type PeopleScene, type PeopleSceneOptions } from '../../support/people-scene.ts'
import { ensureBuilt } from './built-site.ts'

/** A deployment with pages on this machine, where people sign in and apps ask them. */
export interface PeopleSite extends PeopleScene {
  origin: string
  oauth: OAuthDeps
  /** The consent page of a new request of an app. */
  askFor(redirectUri: string, client?: { name?: string; uri?: string; state?: string; address?: string }): Promise<string>
}

const KEYS = [keyOf('pages', 3)]

/** @param options with a `baseUrl`, it does not listen; default: it listens at its origin, on this machine */
export async function openPeopleSite(options: PeopleSceneOptions = {}): Promise<PeopleSite> {
  await ensureBuilt()
  const port = await freePort()
  const origin = options.baseUrl ?? `http://127.0.0.1:${port}`
  let given: Deps | undefined
  const closed = { 'package.json': '{"license":"MIT"}\n', 'docs/guide.md': '# The closed guide\n', 'one/SKILL.md': SKILL }
  const tools = { 'package.json': '{"license":"MIT"}\n', 'one/SKILL.md': SKILL }
  const scene = await openPeopleScene({
    keys: KEYS,
    ...options,
    baseUrl: origin,
    contents: { 'acme/closed': closed, 'acme/tools': tools, ...options.contents },
    deps: deps => {
      given = deps
      return deps
    },
    site: async instance => {
      const client = createApiClient(injectTransport(instance))
      const people = given?.people ? pagePeople(given.people, origin) : null
      await instance.register(sitePlugin, {
        client,
        baseUrl: origin,
        hosts: ['local', 'gh'],
        people,
        ...(given && { listed: listedRepositories(given) }),
        rendering: PATIENT_RENDERING,
      })
    },
  })
  if (options.baseUrl === undefined) await scene.app.listen({ host: '127.0.0.1', port })
  const oauth = given?.oauth as OAuthDeps
  return Object.defineProperties({} as PeopleSite, {
    ...Object.getOwnPropertyDescriptors(scene),
    origin: { value: origin },
    oauth: { value: oauth },
    askFor: {
      value: async (redirect: string, { name = 'Notes', uri, state = 'state', address = '/gh/acme/closed' }: AskOptions = {}) => {
        const clientId = await register(oauth, { redirect_uris: [redirect], client_name: name, ...(uri && { client_uri: uri }) })
        const query = {
          response_type: 'code',
          client_id: clientId,
          redirect_uri: redirect,
          code_challenge: CHALLENGE,
          code_challenge_method: 'S256',
          resource: `${origin}/mcp${address}`,
          state,
        }
        const answer = await authorize(oauth, query, REQUESTER)
        if (answer.status !== 'redirect') throw new Error(`refused: ${JSON.stringify(answer)}`)
        return answer.location
      },
    },
  })
}

type AskOptions = NonNullable<Parameters<PeopleSite['askFor']>[1]>

const SKILL = '---\nname: one\ndescription: The closed skill.\n---\nDo it.\n'
