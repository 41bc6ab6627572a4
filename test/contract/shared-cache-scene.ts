import { expect, onTestFinished } from 'vitest'
import type { StateStore } from '#core/ports/state-store.ts'
import { changesKey } from '#core/snapshot/store-keys.ts'
import { openChangeFeed } from '#infra/change-feed.ts'
import { openGitHubHost } from '#infra/github/host.ts'
import { InvalidationLog } from '#infra/github/invalidation-log.ts'
import { openSharedCache } from '#infra/github/shared-cache.ts'
import { HostChange } from '#infra/github/webhook.ts'
import type { FakeGitHub } from '#test/support/fake-github/server.ts'
import { PATIENT } from '#test/support/patient.ts'
import { serveRepositories } from '#test/support/served-repositories.ts'

export interface ReplicaOptions {
  token?: string | null
  /** How long a visitor waits for the store, in milliseconds. */
  storePatienceMs?: number
}

/** A process of a deployment: the driver of GitHub with what it shares. It looks at the changes when it is told to. */
export async function openReplica(
  github: FakeGitHub,
  states: StateStore,
  { token = null, storePatienceMs = 60_000 }: ReplicaOptions = {},
) {
  const clock = { now: () => new Date(github.clock.now()) }
  const changes = new InvalidationLog(true)
  const scope = JSON.stringify([github.origins.api, token])
  const shared = openSharedCache({ states, host: 'gh', scope, changes, clock, patienceMs: storePatienceMs })
  const host = await openGitHubHost({
    url: github.origins.web,
    apiUrl: github.origins.api,
    token,
    webhookSecret: null,
    clock,
    onWarning: () => {},
    timeouts: PATIENT,
    shared,
  })
  const feed = openChangeFeed({
    states,
    key: changesKey('gh'),
    schema: HostChange,
    onChange: change => void host.applyChange(change),
    onMissed: () => host.expireAll(),
    order: changes,
    lookMs: 0,
  })
  await feed.look()
  onTestFinished(async () => {
    await Promise.all([feed.close(), shared.close()])
    await host.close()
  })

  return {
    /** What a visitor is told; everything that was asked for it is shared at the end. */
    async look(owner: string, name: string, ref: string | null = null) {
      const found = await host.repository(owner, name)
      const answer = found.status === 'ok' ? await host.resolve(found.value, ref) : found
      await shared.close()
      return answer
    },
    /** A webhook reaches this process. Done when the change is told, but not yet looked at. */
    async hear(change: Partial<HostChange>) {
      const whole = { repositories: [], accounts: [], refs: [], ...change }
      changes.begin(whole)
      host.applyChange(whole)
      feed.tell(whole)
    },
    /** What the token sees, as this process tells it. */
    async describeToken() {
      const said = await host.describeCredential()
      await shared.close()
      return said
    },
    lookAtChanges: () => feed.look(),
    told: () => feed.close(),
  }
}

/** The stand-in with repositories, and a count of what it was asked. */
export async function serveShared() {
  const served = await serveRepositories()
  const { github } = served
  return {
    ...served,
    begin() {
      github.reset()
      // Only `advance` moves it: how long a test takes decides nothing.
      github.clock.stopAt(Date.now())
      github.limits.set('anonymous', 1_000_000)
    },
    end() {
      expect(github.mistakes).toEqual([])
    },
    /** Statuses of the API's answers since the log was cleared. */
    api: () => github.log.rest.map(({ status }) => status),
    git: () => github.log.git.length,
  }
}

export type SharedScene = Awaited<ReturnType<typeof serveShared>>
