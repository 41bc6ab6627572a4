import { z } from 'zod'
import { CommitSha } from '#core/commit-sha.ts'

/** What a run of a workflow is about: a repository of GitHub at a commit. */
export interface WorkflowRun {
  owner: string
  name: string
  commit: CommitSha
  /** Digits; `null`: the commit is one that only a pull request has, made to test it. */
  repositoryId: string | null
  /** Base of the API of the host on which it runs. */
  apiUrl: string
}

/** What GitHub says is wrong, or missing: the message is for the author of the workflow. */
export class WorkflowError extends Error {}

const FullName = z.string().regex(/^[^/\s]+\/[^/\s]+$/)

// https://docs.github.com/actions/reference/variables-reference
const Variables = z.object({
  GITHUB_REPOSITORY: FullName,
  GITHUB_REPOSITORY_ID: z.string().regex(/^\d+$/),
  GITHUB_SHA: CommitSha,
  GITHUB_REF: z.string(),
  GITHUB_EVENT_NAME: z.string(),
  GITHUB_API_URL: z.string().default('https://api.github.com'),
})

const PullRequestPayload = z.object({
  pull_request: z.object({ head: z.object({ sha: CommitSha, repo: z.object({ full_name: FullName }) }) }),
})

/**
 * Reads what GitHub tells a workflow.
 *
 * A pull request runs on a merge that is made for it and that no branch keeps, so its own last commit is taken, from where it lies.
 *
 * @param payload of the event, as JSON; unknown fields are fine
 * @throws WorkflowError
 */
export function readWorkflow(env: NodeJS.ProcessEnv, payload: unknown): WorkflowRun {
  const parsed = Variables.safeParse(env)
  if (!parsed.success)
    throw new WorkflowError(`this is no run of a workflow: ${String(parsed.error.issues[0]?.path[0])} is missing`)
  const { GITHUB_API_URL: apiUrl, ...variables } = parsed.data
  // Reviews of a pull request run on its merge, too.
  const isProposed = variables.GITHUB_EVENT_NAME === 'pull_request' || variables.GITHUB_REF.startsWith('refs/pull/')
  const { fullName, commit } = isProposed
    ? proposed(payload)
    : { fullName: variables.GITHUB_REPOSITORY, commit: variables.GITHUB_SHA }
  const [owner = '', name = ''] = fullName.split('/')
  return { owner, name, commit, repositoryId: isProposed ? null : variables.GITHUB_REPOSITORY_ID, apiUrl }
}

function proposed(payload: unknown): { fullName: string; commit: CommitSha } {
  const { head } = PullRequestPayload.safeParse(payload).data?.pull_request ?? {}
  if (!head) throw new WorkflowError('the repository of this pull request is gone')
  return { fullName: head.repo.full_name, commit: head.sha }
}
