import type { GitHost } from '#core/ports/git-host.ts'
import { type GitHubHost, type GitHubHostOptions, openGitHubHost } from '#infra/github/host.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import { PATIENT } from '#test/support/patient.ts'
import { createRepositories, type TestRepository } from '#test/support/repository.ts'

/** A driver of the port: opened over a folder of real repositories, it must pass the suite. */
export interface GitHostDriver {
  segment: string
  open(root: string): Promise<OpenDriver>
}

export interface OpenDriver {
  host: GitHost
  /** Lets the time pass within which an answer may be given again without asking. */
  pass(): void
  close(): Promise<void>
}

export const GIT_HOST_DRIVERS: readonly GitHostDriver[] = [
  {
    segment: 'local',
    async open(root) {
      const host = await openLocalHost({ root, baseUrl: 'http://127.0.0.1:4321' })
      return { host, pass() {}, close: () => host.close() }
    },
  },
  {
    segment: 'gh',
    async open(root) {
      const github = await startFakeGitHub({ root })
      github.limits.set('anonymous', 1_000_000)
      github.clock.stopAt(Date.now())
      const host = await openGitHubHostAt(github)
      return {
        host,
        pass: () => github.clock.advance(PASSED_SECONDS),
        async close() {
          await host.close()
          await github.close()
        },
      }
    },
  },
]

/** More than any answer is kept. */
const PASSED_SECONDS = 301

/** A driver over repositories of its own. */
export interface DriverScene extends OpenDriver {
  create(): Promise<TestRepository>
}

export async function openDriverScene(driver: GitHostDriver): Promise<DriverScene> {
  const repositories = await createRepositories()
  const open = await driver.open(repositories.root)
  let created = 0
  return {
    ...open,
    create: () => repositories.create('acme', `tools-${++created}`),
    async close() {
      await open.close()
      await repositories.remove()
    },
  }
}

/** What fails here stays as it is, so nothing is asked again. */
const UNREPEATED = { ...PATIENT, readRetries: { withinMs: 0, delaysMs: [] } }

/** The driver over the stand-in, with the stand-in's clock. */
export function openGitHubHostAt(
  github: FakeGitHub,
  {
    token = null,
    onWarning = () => {},
    timeouts = UNREPEATED,
    parent = null,
    app = null,
  }: Partial<Pick<GitHubHostOptions, 'token' | 'onWarning' | 'timeouts' | 'parent' | 'app'>> = {},
): Promise<GitHubHost> {
  const { origins, clock } = github
  return openGitHubHost({
    url: origins.web,
    apiUrl: origins.api,
    token,
    webhookSecret: null,
    clock: { now: () => new Date(clock.now()) },
    onWarning,
    timeouts,
    parent,
    app,
  })
}
