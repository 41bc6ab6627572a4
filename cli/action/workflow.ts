import { z } from 'zod'
import { CommitSha } from '#core/commit-sha.ts'

/** The repository and commit of a workflow run. */
export interface WorkflowRun {
  owner: string
  name: string
  commit: CommitSha
  /** Digits; `null` for a pull request, whose commits are not trusted. */
  repositoryId: string | null
  /** Base URL of the GitHub API. */
  apiUrl: string
}

/** The workflow, its permissions or its event do not allow the run. The message is for the author of the workflow. */
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
 * Reads the repository and commit of a workflow run.
 *
 * A pull request runs on a temporary merge commit, so the head commit of the pull request is used, in the repository that has it.
 *
 * @param payload the event as parsed JSON; unknown fields are ignored
 * @throws WorkflowError
 */
export function readWorkflow(env: NodeJS.ProcessEnv, payload: unknown): WorkflowRun {
  const parsed = Variables.safeParse(env)
  if (!parsed.success)
    throw new WorkflowError(
      `not a GitHub workflow run: the variable ${String(parsed.error.issues[0]?.path[0])} is missing or wrong`,
    )
  const { GITHUB_API_URL: apiUrl, ...variables } = parsed.data
  // Reviews of a pull request run on the merge commit, too.
  const isPullRequest = variables.GITHUB_EVENT_NAME === 'pull_request' || variables.GITHUB_REF.startsWith('refs/pull/')
  const { fullName, commit } = isPullRequest
    ? headOf(payload)
    : { fullName: variables.GITHUB_REPOSITORY, commit: variables.GITHUB_SHA }
  const [owner = '', name = ''] = fullName.split('/')
  return { owner, name, commit, repositoryId: isPullRequest ? null : variables.GITHUB_REPOSITORY_ID, apiUrl }
}

function headOf(payload: unknown): { fullName: string; commit: CommitSha } {
  const { head } = PullRequestPayload.safeParse(payload).data?.pull_request ?? {}
  if (!head) throw new WorkflowError('the repository of this pull request was deleted')
  return { fullName: head.repo.full_name, commit: head.sha }
}
