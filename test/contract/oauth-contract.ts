import { describe, expect, test } from 'vitest'
import { decide, describeRequest } from '#api/oauth/decision.ts'
import type { OAuthDeps } from '#api/oauth/oauth.ts'
import { formatToken, parseToken } from '#api/people/token-text.ts'
import type { SealingKeys } from '#api/purpose-keys.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import {
  acting,
  approved,
  connected,
  endGrant,
  form,
  isAlive,
  isTold,
  keyOf,
  listGrants,
  type OAuthScene,
  ORIGIN,
  openOAuthScene,
  REPOSITORY,
  redeemed,
  refreshed,
  requested,
  revokeToken,
  signIn,
  type Told,
} from '#test/support/oauth-scene.ts'
import { type StoreDriver, temporaryFolder } from '#test/support/store-drivers.ts'

const MANY = 24

/** What holds of codes and tokens in every store, asked of two replicas. */
export function oauthContract({ open }: StoreDriver<StateStore>): void {
  async function scene(options?: Parameters<typeof openOAuthScene>[1]): Promise<OAuthScene> {
    const folder = await temporaryFolder()
    const states = await open(folder)
    return await openOAuthScene(() => states, options)
  }

  /** The same work many times at once, in turns on both replicas. */
  async function atOnce(of: OAuthScene, work: (deps: OAuthDeps) => Promise<Told>): Promise<Told[]> {
    return await Promise.all(Array.from({ length: MANY }, (_, index) => work(of.replicas[index % 2] as OAuthDeps)))
  }

  async function livingOf(of: OAuthScene, answers: readonly Told[]): Promise<number> {
    const alive = await Promise.all(answers.filter(isTold).map(answer => isAlive(of.second, answer.access_token)))
    return alive.filter(Boolean).length
  }

  describe('a code', () => {
    test('gives tokens that are alive on every replica', async () => {
      const of = await scene()
      const answer = await connected(of)
      expect(answer).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'read' })
      for (const replica of of.replicas) expect(await isAlive(replica, answer.access_token)).toBe(true)
      expect(await isAlive(of.second, answer.refresh_token)).toBe(false)
    })

    test('v5.0.0-10.4.2: that is presented twice ends its tokens', async () => {
      const of = await scene()
      const code = await approved(of.first, of.person, await requested(of.first, of.clientId))
      const answer = await redeemed(of.first, of.clientId, code)
      expect(await redeemed(of.second, of.clientId, code)).toEqual({ error: 'invalid_grant' })
      expect(await livingOf(of, [answer])).toBe(0)
      if (isTold(answer))
        expect(await refreshed(of.second, of.clientId, answer.refresh_token)).toEqual({ error: 'invalid_grant' })
      expect(of.events).toEqual(['grant.create', 'code.replay'])
    })

    test('v5.0.0-15.4.2: that is presented many times at once is redeemed once at most, and no token stays valid', async () => {
      const of = await scene()
      const code = await approved(of.first, of.person, await requested(of.first, of.clientId))
      const answers = await atOnce(of, deps => redeemed(deps, of.clientId, code))
      expect(answers.filter(isTold).length).toBeLessThanOrEqual(1)
      expect(await livingOf(of, answers)).toBe(0)
      expect((await listGrants(of.first, of.person)).items).toEqual([])
    })

    test('of a request that was approved twice is redeemed once', async () => {
      const of = await scene()
      const request = await requested(of.first, of.clientId)
      const [one, other] = [await approved(of.first, of.person, request), await approved(of.second, of.person, request)]
      expect(isTold(await redeemed(of.first, of.clientId, one))).toBe(true)
      expect(await redeemed(of.second, of.clientId, other)).toEqual({ error: 'invalid_grant' })
    })

    test('of a person who was forgotten is refused, even after the person signed in again', async () => {
      const of = await scene()
      const code = await approved(of.first, of.person, await requested(of.first, of.clientId))
      await of.first.records.people.remove(of.person.key)
      expect(await redeemed(of.second, of.clientId, code)).toEqual({ error: 'invalid_grant' })
      await signIn(of.first, '583231')
      expect(await redeemed(of.second, of.clientId, code)).toEqual({ error: 'invalid_grant' })
      expect(await listGrants(of.first, of.person)).toEqual({ items: [] })
    })

    test('for a repository that was created again ends the grants for the one before', async () => {
      const of = await scene()
      const before = await connected(of)
      of.host.repositories.set(REPOSITORY, { id: 'gh-2' })
      const after = await connected(of)
      expect([await isAlive(of.second, before.access_token), await isAlive(of.second, after.access_token)]).toEqual([false, true])
      expect(await refreshed(of.second, of.clientId, before.refresh_token)).toEqual({ error: 'invalid_grant' })
    })

    test('is not invalidated by attempts that have the code only', async () => {
      const of = await scene()
      const code = await approved(of.first, of.person, await requested(of.first, of.clientId))
      const attempts: Record<string, string | undefined>[] = [
        { code_verifier: 'another-verifier-of-forty-three-characters-or' },
        { code_verifier: undefined },
        { redirect_uri: 'http://127.0.0.1:1/other' },
        { resource: 'https://skills.example.org/mcp/gh/acme/other' },
        { client_id: 'https://other.example/client.json' },
      ]
      for (const over of attempts) expect(isTold(await redeemed(of.second, of.clientId, code, over))).toBe(false)
      expect(isTold(await redeemed(of.first, of.clientId, code))).toBe(true)
    })
  })

  describe('a refresh token', () => {
    test('v5.0.0-10.4.5: is exchanged for another one, and the access tokens of both answers are alive', async () => {
      const of = await scene()
      const before = await connected(of)
      const after = await refreshed(of.second, of.clientId, before.refresh_token)
      if (!isTold(after)) throw new Error(after.error)
      expect(after.refresh_token).not.toBe(before.refresh_token)
      expect(await livingOf(of, [before, after])).toBe(2)
    })

    test('presented many times at once has one successor, and every access token is alive', async () => {
      const of = await scene()
      const { refresh_token } = await connected(of)
      const answers = await atOnce(of, deps => refreshed(deps, of.clientId, refresh_token))
      expect(answers.every(isTold)).toBe(true)
      expect(new Set(answers.map(answer => isTold(answer) && answer.refresh_token)).size).toBe(1)
      expect(await livingOf(of, answers)).toBe(MANY)
    })

    test('presented after the grace ends its family, also while others refresh', async () => {
      const of = await scene()
      const first = await connected(of)
      const second = await refreshed(of.first, of.clientId, first.refresh_token)
      if (!isTold(second)) throw new Error(second.error)
      of.clock.advance(301)
      const [thieves, answer] = await Promise.all([
        atOnce(of, deps => refreshed(deps, of.clientId, first.refresh_token)),
        refreshed(of.first, of.clientId, second.refresh_token),
      ])
      expect(thieves).toEqual(Array(MANY).fill({ error: 'invalid_grant' }))
      expect(await livingOf(of, [first, second, answer])).toBe(0)
      expect(of.events).toContain('refresh.reuse')
    })

    test('that was never issued is refused, and ends nothing, however often it is tried', async () => {
      const of = await scene()
      const answer = await connected(of)
      const token = parseToken(answer.refresh_token)
      if (token?.kind !== 'refresh') throw new Error('no refresh token')
      const guessed = formatToken(token, new Uint8Array(32).fill(1))
      const garbage = [guessed, answer.access_token, `${answer.refresh_token}x`, 'mgr_', '']
      for (const refresh_token of garbage) expect(isTold(await refreshed(of.second, of.clientId, refresh_token))).toBe(false)
      const answers = await atOnce(of, deps => refreshed(deps, of.clientId, guessed))
      expect(answers).toEqual(Array(MANY).fill({ error: 'invalid_grant' }))
      expect(await livingOf(of, [answer])).toBe(1)
      expect(isTold(await refreshed(of.first, of.clientId, answer.refresh_token))).toBe(true)
    })

    test('presented twice ends its family at once where there is no grace', async () => {
      const of = await scene({ graceSeconds: 0 })
      const first = await connected(of)
      const second = await refreshed(of.first, of.clientId, first.refresh_token)
      expect(await refreshed(of.second, of.clientId, first.refresh_token)).toEqual({ error: 'invalid_grant' })
      expect(await livingOf(of, [first, second])).toBe(0)
    })

    test('is invalid after its revocation, on every replica, and the audit log has the revocation once', async () => {
      const of = await scene()
      const answer = await connected(of)
      for (const replica of of.replicas) await revokeToken(replica, form({ token: answer.refresh_token }), ORIGIN)
      const noted = of.noted.filter(({ event }) => event === 'grant.delete')
      expect(noted).toMatchObject([{ origin: ORIGIN, address: REPOSITORY, reason: 'revoked by the app' }])
      expect(await livingOf(of, [answer])).toBe(0)
      expect(await refreshed(of.second, of.clientId, answer.refresh_token)).toEqual({ error: 'invalid_grant' })
    })
  })

  test('an expired request is neither approved nor refused', async () => {
    const of = await scene()
    const request = await requested(of.first, of.clientId)
    of.clock.advance(901)
    for (const approve of [true, false])
      await expect(decide(of.second, { request, approve }, acting(of.person))).rejects.toMatchObject({
        code: 'oauth.invalid_request',
      })
  })

  describe('a grant that the person ends', () => {
    test('v5.0.0-8.3.2: ends at once on every replica, with all its tokens', async () => {
      const of = await scene()
      const [one, other] = [await connected(of), await connected(of)]
      const { items } = await listGrants(of.second, of.person)
      expect(items).toMatchObject([{ client: { name: 'An app', uri: null }, address: '/gh/acme/secret', lastUsedAt: null }])
      await endGrant(of.first, of.person, items[0]?.id ?? '')
      expect(await livingOf(of, [one, other])).toBe(0)
      for (const { refresh_token } of [one, other])
        expect(await refreshed(of.second, of.clientId, refresh_token)).toEqual({ error: 'invalid_grant' })
      expect((await listGrants(of.second, of.person)).items).toEqual([])
      await expect(endGrant(of.second, of.person, items[0]?.id ?? '')).rejects.toMatchObject({ code: 'grant.not_found' })
    })

    test('v5.0.0-8.4.1: cannot be ended by another person', async () => {
      const of = await scene()
      const answer = await connected(of)
      const other = await signIn(of.first, '7')
      const [grant] = (await listGrants(of.first, of.person)).items
      expect((await listGrants(of.first, other)).items).toEqual([])
      await expect(endGrant(of.first, other, grant?.id ?? '')).rejects.toMatchObject({ code: 'grant.not_found' })
      expect(await livingOf(of, [answer])).toBe(1)
    })

    test('is in the audit log, like its other events, with the request and the id of the repository', async () => {
      const of = await scene()
      const code = await approved(of.first, of.person, await requested(of.first, of.clientId))
      const answer = await redeemed(of.first, of.clientId, code)
      const { refresh_token = '' } = isTold(answer) ? answer : {}
      for (const times of [1, 2])
        expect([times, isTold(await refreshed(of.first, of.clientId, refresh_token))]).toEqual([times, true])
      await endGrant(of.second, of.person, (await listGrants(of.first, of.person)).items[0]?.id ?? '')
      await redeemed(of.first, of.clientId, code)
      const subject = { origin: ORIGIN, person: of.person.key, address: REPOSITORY, repositoryId: 'gh-1' }
      expect(of.noted).toEqual(
        ['grant.create', 'refresh.grace', 'grant.delete', 'code.replay'].map(event => ({
          event,
          ...subject,
          client: expect.any(String),
        })),
      )
      await decide(of.first, { request: await requested(of.first, of.clientId), approve: false }, acting(of.person))
      expect(of.noted.at(-1)).toMatchObject({ event: 'oauth.deny', origin: ORIGIN, address: REPOSITORY })
    })

    test('is not restored by requests in progress', async () => {
      const of = await scene()
      const first = await connected(of)
      const code = await approved(of.first, of.person, await requested(of.first, of.clientId))
      const id = (await listGrants(of.first, of.person)).items[0]?.id ?? ''
      const ends = endGrant(of.second, of.person, id)
      const answers = await Promise.all([
        ...Array.from({ length: 8 }, (_, index) =>
          refreshed(of.replicas[index % 2] as OAuthDeps, of.clientId, first.refresh_token),
        ),
        redeemed(of.first, of.clientId, code),
        ends.then(() => ({ error: 'ended' })),
      ])
      expect(await livingOf(of, [first, ...answers])).toBe(0)
      expect(await redeemed(of.second, of.clientId, code)).toEqual({ error: 'invalid_grant' })
      const anew = await redeemed(
        of.first,
        of.clientId,
        await approved(of.first, of.person, await requested(of.first, of.clientId)),
      )
      expect(await livingOf(of, [anew])).toBe(1)
    })
  })
  describe('sealing keys that change', () => {
    /** Deployments over one store, one after another: with the old key, with a new one before it, and with the new one alone. */
    async function rotated() {
      const states = await open(await temporaryFolder())
      const withKeys = (...keys: SealingKeys) => openOAuthScene(() => states, { keys })
      const [old, young] = [keyOf('1', 1), keyOf('2', 2)]
      return { before: await withKeys(old), both: await withKeys(young, old), after: await withKeys(young) }
    }

    test('v5.0.0-13.3.4: a seal of the old key opens while the key is configured', async () => {
      const { before, both } = await rotated()
      const request = await requested(before.first, before.clientId)
      expect(await describeRequest(both.first, { request }, both.person)).toMatchObject({ client: { name: 'An app' } })
      const code = await approved(both.first, both.person, request)
      expect(isTold(await redeemed(both.second, before.clientId, code))).toBe(true)
      const sealed = await approved(before.first, before.person, await requested(before.first, before.clientId))
      expect(isTold(await redeemed(both.first, before.clientId, sealed))).toBe(true)
    })

    test('tokens and grants outlive every key', async () => {
      const { before, both, after } = await rotated()
      const given = await connected(before)
      const answer = await refreshed(both.first, before.clientId, given.refresh_token)
      if (!isTold(answer)) throw new Error(answer.error)
      expect(await livingOf(after, [given, answer])).toBe(2)
      expect((await listGrants(after.first, after.person)).items).toHaveLength(1)
    })

    test('a seal of a retired key is refused, and an app that registered with it registers again', async () => {
      const { before, after } = await rotated()
      const request = await requested(before.first, before.clientId)
      const code = await approved(before.first, before.person, request)
      const { refresh_token } = await connected(before)
      for (const approve of [true, false])
        await expect(decide(after.first, { request, approve }, acting(after.person))).rejects.toMatchObject({
          code: 'oauth.invalid_request',
        })
      await expect(describeRequest(after.first, { request }, after.person)).rejects.toMatchObject({
        code: 'oauth.invalid_request',
      })
      expect(await redeemed(after.first, before.clientId, code)).toEqual({ error: 'invalid_client' })
      expect(await redeemed(after.first, after.clientId, code)).toEqual({ error: 'invalid_grant' })
      expect(await refreshed(after.first, before.clientId, refresh_token)).toEqual({ error: 'invalid_client' })
      expect(
        isTold(
          await redeemed(
            after.first,
            after.clientId,
            await approved(after.first, after.person, await requested(after.first, after.clientId)),
          ),
        ),
      ).toBe(true)
    })
  })
}
