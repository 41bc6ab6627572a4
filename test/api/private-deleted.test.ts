import { expect, onTestFinished, test } from 'vitest'
import { HIDDEN_HOURS } from '#core/limits.ts'
import { sweepStore } from '#indexer/sweep/sweep.ts'
import { installationPayload, repositoryPayload, selectionPayload, signDelivery } from '#test/support/fake-github/webhooks.ts'
import { openPeopleScene, type PeopleScene } from '#test/support/people-scene.ts'
import { WEBHOOK_SECRET } from '#test/support/test-app.ts'

const CLOSED = '/gh/acme/closed'
const HOUR = 3_600

/** A private repository that its person has opened. */
async function openScene() {
  const scene = await openPeopleScene({ contents: { 'acme/closed': { 'a.md': '# A\n' }, 'acme/other': { 'a.md': '# A\n' } } })
  onTestFinished(() => scene.close())
  const ada = await scene.signIn(scene.ada)
  await ada.get(`/api/v1/mounts${CLOSED}`)
  await scene.index()
  await ada.get(`/api/v1/mounts${CLOSED}`)
  await scene.deps.hidden.written()
  scene.advanceClock(60)
  return { scene, ada }
}

async function tell(scene: PeopleScene, event: string, payload: object) {
  const { headers, body } = signDelivery(scene.githubApp, event, payload as never, { secret: WEBHOOK_SECRET })
  expect((await scene.app.inject({ method: 'POST', url: '/hooks/github', headers, payload: body })).statusCode).toBe(202)
  await scene.deps.hidden.written()
}

/** The snapshots of private repositories that two sweeps leave, a day apart. */
async function leftAfter({ blobs, states, deps, advanceClock }: PeopleScene, hours: number): Promise<string[]> {
  const options = { days: 90, remove: true, signal: new AbortController().signal }
  const onFailure = (_: string, error: unknown) => {
    throw error
  }
  advanceClock(hours * HOUR)
  await sweepStore({ blobs, states }, deps.clock, { ...options, onFailure })
  advanceClock(25 * HOUR)
  await sweepStore({ blobs, states }, deps.clock, { ...options, onFailure })
  return await blobs.list('prv/')
}

test.each([
  [
    'was deleted',
    'repository',
    ({ github, closed, installation }: PeopleScene) => repositoryPayload(github.scene, closed, 'deleted', installation),
  ],
  [
    'was taken from the App',
    'installation_repositories',
    ({ github, closed, installation }: PeopleScene) => selectionPayload(github.scene, installation, 'removed', [closed]),
  ],
  [
    'was uninstalled',
    'installation',
    ({ github, installation }: PeopleScene) => installationPayload(github.scene, installation, 'deleted'),
  ],
] as const)('stored objects of a private repository that %s are swept', async (_, event, payloadOf) => {
  const { scene } = await openScene()
  await tell(scene, event, await payloadOf(scene))
  expect(await leftAfter(scene, HIDDEN_HOURS + 1)).toEqual([])
  expect((await scene.states.list('ctl/kept/prv/', {})).length + (await scene.states.list('ctl/last/prv/', {})).length).toBe(0)
})

test('a repository that is opened again stays', async () => {
  const { scene, ada } = await openScene()
  const { github, closed, installation } = scene
  await tell(scene, 'installation_repositories', selectionPayload(github.scene, installation, 'removed', [closed]))
  scene.advanceClock(24 * HOUR)
  expect((await ada.get(`/api/v1/mounts${CLOSED}`)).json.index.status).toBe('ready')
  await scene.deps.hidden.written()
  expect((await leftAfter(scene, HIDDEN_HOURS)).length).toBeGreaterThan(0)
})

test('nothing is noted of a repository that was never opened', async () => {
  const { scene } = await openScene()
  const other = await scene.github.shown('acme', 'other', { visibility: 'private' })
  const before = await scene.states.list('ctl/kept/', {})
  await tell(scene, 'repository', await repositoryPayload(scene.github.scene, other, 'deleted', scene.installation))
  expect(await scene.states.list('ctl/kept/', {})).toEqual(before)
})
