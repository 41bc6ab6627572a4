import { expect } from 'vitest'
import type { GitHost } from '#core/ports/git-host.ts'
import type { GitHubHost } from '#infra/github/host.ts'
import type { Repository } from '#test/support/fake-github/world.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { serveRepositories } from '#test/support/served-repositories.ts'
import { openGitHubHostAt } from './git-host-drivers.ts'

/** The driver of GitHub over the stand-in: for each test a host that knows nothing yet, between `begin` and `end`. */
export async function openGitHubHostScene() {
  const served = await serveRepositories()
  const { github } = served
  const opened: GitHost[] = []
  let host: GitHost

  /** Another host; it is closed after the test. */
  async function open(options: Parameters<typeof openGitHubHostAt>[1] = {}, at = github): Promise<GitHubHost> {
    const one = await openGitHubHostAt(at, options)
    opened.push(one)
    return one
  }

  return {
    ...served,
    open,

    /** The stand-in's side of the repository, whose fields say what it shows. */
    shownAs: ({ owner, name }: TestRepository, changes?: Partial<Repository>): Promise<Repository> =>
      github.shown(owner, name, changes),

    /** What a visitor of the repository is told: of its default branch, or of a ref. */
    async look(repository: Pick<TestRepository, 'owner' | 'name'>, ref: string | null = null, at = host) {
      const answer = await at.repository(repository.owner, repository.name)
      return answer.status === 'ok' ? at.resolve(answer.value, ref) : answer
    },

    /** Requests of the API since the log was cleared. */
    asked: () => github.log.rest.map(({ path, status }) => `${path} ${status}`),

    async begin(): Promise<GitHost> {
      github.reset()
      // Only `advance` moves it: how long a test takes decides nothing.
      github.clock.stopAt(Date.now())
      github.world.ambiguousRefs = 'branch'
      host = await open()
      return host
    },

    async end(): Promise<void> {
      expect(github.mistakes).toEqual([])
      await Promise.all(opened.splice(0).map(one => one.close()))
    },
  }
}
