import type { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { createGitHubApi, type GitHubApi } from '#infra/github/api.ts'
import { createCredential } from '#infra/github/credential.ts'
import { mapRepository } from '#infra/github/map-repository.ts'
import { systemClock } from '#infra/system/system.ts'
import { WorkflowError } from './workflow.ts'

export interface DescribedRun {
  repository: HostRepository
  /** Asks whether the commit is the tip of the default branch. */
  askIsTip(): Promise<boolean>
}

/**
 * Asks GitHub for the current state of the repository: a repeated run has an old event, and a repository that was public then may be private
 * now.
 *
 * @param run `repositoryId`: the id stays when the repository is renamed
 * @throws WorkflowError when GitHub does not tell whether the repository is public: then nothing is written
 */
export async function describeRun(
  run: { repositoryId: string; commit: CommitSha },
  { apiUrl, token }: { apiUrl: string; token: string },
): Promise<DescribedRun> {
  const api = createGitHubApi({
    apiUrl,
    isEnterprise: apiUrl !== 'https://api.github.com',
    credential: createCredential(token === '' ? null : token, systemClock),
    clock: systemClock,
    closing: new AbortController().signal,
    // `askRepository` reports failures.
    warn: () => {},
  })
  const repository = await askRepository(api, run.repositoryId)
  return { repository, askIsTip: async () => (await askTip(api, repository)) === run.commit }
}

async function askRepository(api: GitHubApi, id: string): Promise<HostRepository> {
  const answer = await api.get('/repositories/{id}', { id })
  if (answer.status === 'missing')
    throw new WorkflowError(
      `this workflow cannot see the repository ${id}: give the input token read access to it (${answer.message})`,
    )
  const repository = answer.status === 'ok' ? mapRepository(answer.data) : null
  if (repository?.id !== `gh-${id}`)
    throw new WorkflowError(
      `GitHub did not tell whether the repository is public (${answer.status}): check the input token and run the job again`,
    )
  return repository
}

/** The tip of the default branch; `null` when GitHub does not tell: the next visit of the branch lists the repository. */
async function askTip(api: GitHubApi, { owner, name, defaultBranch }: HostRepository): Promise<string | null> {
  const asked = { owner, repo: name, ref: `heads/${defaultBranch}` }
  const answer = await api.get('/repos/{owner}/{repo}/commits/{ref}', asked, { accept: 'application/vnd.github.sha' })
  return answer.status === 'ok' ? String(answer.data) : null
}
