import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import { type Service, startService } from '#test/support/service.ts'
import { makeAttacked, SMALL_SIZES, visitFirst } from './attacked.ts'
import { measureHeld } from './held-resources.ts'
import { excesses, serviceAttacks } from './service-attacks.ts'

/** The short form of `npm run attack`. */
const SECONDS = 2
const LONG_REFS = 2_000

const root = await mkdtemp(join(tmpdir(), 'mountglass-attack-'))
const attacked = makeAttacked(root, SMALL_SIZES)
let github: FakeGitHub
let service: Service

beforeAll(async () => {
  github = await startFakeGitHub({ root })
  service = await startService({
    MOUNTGLASS_GITHUB_URL: github.origins.web,
    MOUNTGLASS_GITHUB_API_URL: github.origins.api,
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_LOG: 'error',
  })
  await visitFirst(service, attacked)
})

afterAll(async () => {
  await service.stop()
  await github.close()
  await rm(root, { recursive: true, force: true })
})

describe('a process under attack holds few processes, descriptors and bytes, and releases them', () => {
  test.each(serviceAttacks(attacked, SECONDS, LONG_REFS))('$name', async attack => {
    const held = await measureHeld(service, attack.start, attack.options)
    expect(held.count).toBeGreaterThan(0)
    expect(excesses(attack, held)).toEqual([])
    expect((await fetch(`${service.baseUrl}/healthz`)).status).toBe(200)
  })
})
