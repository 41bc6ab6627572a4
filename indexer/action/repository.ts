import type { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { createGitHubApi, type GitHubApi } from '#infra/github/api.ts'
import { describeRepository } from '#infra/github/described.ts'
import { systemClock } from '#infra/system/clock.ts'
import { WorkflowError } from './workflow.ts'

export interface DescribedRun {
  repository: HostRepository
  /** The commit is that of the default branch. */
  isDefault: boolean
}

/**
 * What the host says of a repository and a commit of it at this moment. The event that started the run may be a month old by the time the
 * run is repeated, and a repository that was public then is private now.
 *
 * @param run `repositoryId`: by which it is known under every name
 * @throws WorkflowError when the host does not say whether the repository is public: nothing may be written then
 */
export async function describeRun(
  run: { repositoryId: string; commit: CommitSha },
  { apiUrl, token }: { apiUrl: string; token: string },
): Promise<DescribedRun> {
  const api = createGitHubApi({
    apiUrl,
    token: token === '' ? null : token,
    clock: systemClock,
    closing: new AbortController().signal,
    // It is told with what was asked for.
    onWarning: () => {},
  })
  const repository = await askRepository(api, run.repositoryId)
  return { repository, isDefault: (await askTip(api, repository)) === run.commit }
}

async function askRepository(api: GitHubApi, id: string): Promise<HostRepository> {
  const answer = await api.get('/repositories/{id}', { id })
  if (answer.status === 'missing')
    throw new WorkflowError(
      `GitHub shows no repository ${id} to this workflow: the input token has to see it (${answer.message})`,
    )
  const repository = answer.status === 'ok' ? describeRepository(answer.data) : null
  if (repository?.id !== `gh-${id}`)
    throw new WorkflowError(
      `GitHub does not say now whether the repository is public (${answer.status}): is the input token right? Run this again`,
    )
  return repository
}

/** Of the default branch; `null`: it is not known now, and whoever visits the branch finds out. */
async function askTip(api: GitHubApi, { owner, name, defaultBranch }: HostRepository): Promise<string | null> {
  const asked = { owner, repo: name, ref: `heads/${defaultBranch}` }
  const answer = await api.get('/repos/{owner}/{repo}/commits/{ref}', asked, { accept: 'application/vnd.github.sha' })
  return answer.status === 'ok' ? String(answer.data) : null
}
