import { z } from 'zod'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { CommitSha } from '#core/snapshot/format.ts'

/** What a run of a workflow is about: a repository of GitHub at a commit. */
export interface WorkflowRun {
  owner: string
  name: string
  commit: CommitSha
  /** What only the repository's own runs know of it; `null`: the commit is another one's, or the event says too little. */
  repository: HostRepository | null
  /** The commit is that of the default branch. */
  isDefault: boolean
  /** The commit is one that only a pull request has, made to test it. */
  isProposed: boolean
}

/** What GitHub says is wrong, or missing: the message is for the author of the workflow. */
export class WorkflowError extends Error {}

const Sha = z.custom<CommitSha>(value => typeof value === 'string' && /^[0-9a-f]{40}$/.test(value))
const FullName = z.string().regex(/^[^/\s]+\/[^/\s]+$/)

// https://docs.github.com/actions/reference/variables-reference
const Variables = z.object({
  GITHUB_REPOSITORY: FullName,
  GITHUB_REPOSITORY_ID: z.string().regex(/^\d+$/),
  GITHUB_REPOSITORY_OWNER_ID: z.string().regex(/^\d+$/),
  GITHUB_SHA: Sha,
  GITHUB_REF: z.string(),
  GITHUB_EVENT_NAME: z.string(),
})

const RepositoryPayload = z.object({
  default_branch: z.string().min(1),
  description: z.string().nullable().default(null),
  visibility: z.enum(['public', 'private', 'internal']),
  owner: z.object({ avatar_url: z.string().default('') }),
})

const PullRequestPayload = z.object({ head: z.object({ sha: Sha, repo: z.object({ full_name: FullName }) }) })

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
  const variables = parsed.data
  const event = z.looseObject({}).safeParse(payload).data ?? {}
  if (variables.GITHUB_EVENT_NAME === 'pull_request') return proposed(event.pull_request)

  const [owner, name] = splitName(variables.GITHUB_REPOSITORY)
  const described = RepositoryPayload.safeParse(event.repository).data
  const repository: HostRepository | null = described
    ? {
        id: `gh-${variables.GITHUB_REPOSITORY_ID}`,
        ownerId: `gh-${variables.GITHUB_REPOSITORY_OWNER_ID}`,
        host: 'gh',
        owner,
        name,
        defaultBranch: described.default_branch,
        description: described.description,
        avatar: described.owner.avatar_url || null,
        visibility: described.visibility === 'public' ? 'public' : 'private',
      }
    : null
  const isDefault = described !== undefined && variables.GITHUB_REF === `refs/heads/${described.default_branch}`
  return { owner, name, commit: variables.GITHUB_SHA, repository, isDefault, isProposed: false }
}

function proposed(payload: unknown): WorkflowRun {
  const { head } = PullRequestPayload.safeParse(payload).data ?? {}
  if (!head) throw new WorkflowError('the repository of this pull request is gone')
  const [owner, name] = splitName(head.repo.full_name)
  return { owner, name, commit: head.sha, repository: null, isDefault: false, isProposed: true }
}

function splitName(fullName: string): [owner: string, name: string] {
  const [owner = '', name = ''] = fullName.split('/')
  return [owner, name]
}
