import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type { PeopleHost, PersonAccess } from '#core/ports/people-host.ts'
import type { GitHubHost } from '#infra/github/host.ts'
import type { Account } from '#test/support/fake-github/world.ts'
import { PATIENT } from '#test/support/patient.ts'
import { openGitHubScene } from './fake-github-scene.ts'
import { openGitHubHostAt } from './git-host-drivers.ts'

const scene = await openGitHubScene()
const { github, acme, ada, bob, secret, app } = scene
let host: GitHubHost
let people: PeopleHost
let warnings: string[]

beforeEach(async () => {
  // Only `advance` moves it: how long a test takes decides nothing.
  github.clock.stopAt(Date.now())
  warnings = []
  const onWarning = (text: string) => void warnings.push(text)
  host = await openGitHubHostAt(github, { app: { ...app, id: String(app.id) }, timeouts: PATIENT, onWarning })
  if (host.people === null) throw new Error('no people')
  people = host.people
})
afterEach(async () => {
  await host.close()
  scene.check()
})
afterAll(scene.close)

/** As the sign-in gives it, for a person of the host. */
function accessOf(user: Account): PersonAccess {
  return { key: user.login, accessToken: github.userTokens(app, user).access_token }
}

test('an IP allow list that lacks this server hides nothing and signs out no person; the operator is warned once a day', async () => {
  const access = accessOf(ada)
  expect(await people.repository(access, 'acme', 'closed')).toMatchObject({ status: 'ok' })
  acme.refusesAddress = true
  for (let minute = 0; minute < 3; minute++) {
    github.clock.advance(61)
    expect(await people.repository(access, 'acme', 'closed')).toEqual({ status: 'unavailable', retryAfterSeconds: null })
    expect(await people.repositoryById(access, `gh-${secret.id}`)).toMatchObject({ status: 'unavailable' })
  }
  expect(await people.installations(access)).toEqual({ status: 'ok', value: { items: [], truncated: true } })
  expect(await people.person(access)).toMatchObject({ status: 'ok' })
  expect(await people.repository(accessOf(bob), 'acme', 'closed')).toEqual({ status: 'missing' })
  expect(warnings).toEqual([expect.stringContaining('the IP allow list of an organization')])
  expect(warnings.join()).not.toMatch(/acme|closed/)
  github.clock.advance(24 * 3_600)
  const nextDay = accessOf(ada)
  await people.repository(nextDay, 'acme', 'closed')
  expect(warnings).toHaveLength(2)
  acme.refusesAddress = false
  expect(await people.repository(nextDay, 'acme', 'closed')).toMatchObject({ status: 'ok' })
})

test('an endpoint of the sign-in or of a person that GitHub will retire is reported', async () => {
  const headers = { sunset: 'Wed, 10 Mar 2030 00:00:00 GMT' }
  github.faults.add({ match: { path: '/login/oauth/access_token' }, times: 2, status: 500, headers })
  await people.refresh('ghr_x')
  github.faults.clear()
  github.faults.add({ match: { path: '/user' }, status: 500, times: 2, headers })
  await people.person(accessOf(ada))
  github.faults.clear()
  expect(warnings).toEqual([
    expect.stringMatching(/POST \/login\/oauth\/access_token .* 10 Mar 2030/),
    expect.stringMatching(/GET \/user .* 10 Mar 2030/),
  ])
})
