import { createHmac, randomUUID } from 'node:crypto'
import { fullName, fullRepository, installationBody, nodeId, type Scene, simpleAccount } from './bodies.ts'
import { changedFiles, defaultBranch, readCommits } from './git.ts'
import { faultOfDelivery, type JsonObject } from './schema.ts'
import { type Account, type App, type Installation, isInstalledOn, type Repository } from './world.ts'

/** What the host posts to an app's webhook address. */
export interface Delivery {
  headers: Record<string, string>
  body: string
}

export interface DeliveryOptions {
  /** Default: a new one. A delivery that is sent again has its id again. */
  id?: string
  /** Default: the app's. */
  secret?: string
}

/** The event with its signatures. @throws Error when the payload is not as the description says */
export function signDelivery(app: App, event: string, payload: JsonObject, options: DeliveryOptions = {}): Delivery {
  const fault = faultOfDelivery(event, payload)
  if (fault !== null) throw new Error(fault)
  const body = JSON.stringify(payload)
  const secret = options.secret ?? app.webhookSecret
  const sign = (algorithm: string) => `${algorithm}=${createHmac(algorithm, secret).update(body).digest('hex')}`
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/0000000',
      'x-github-delivery': options.id ?? randomUUID(),
      'x-github-event': event,
      'x-github-hook-id': '1',
      'x-github-hook-installation-target-id': String(app.id),
      'x-github-hook-installation-target-type': 'integration',
      'x-hub-signature': sign('sha1'),
      'x-hub-signature-256': sign('sha256'),
    },
    body,
  }
}

const ZERO = '0'.repeat(40)

export interface Push {
  /** `refs/heads/main`. */
  ref: string
  /** `null`: the ref is new. */
  before: string | null
  /** `null`: the ref was deleted. */
  after: string | null
}

/** The payload of `push`. */
export async function pushPayload(
  scene: Scene,
  repository: Repository,
  push: Push,
  installation: Installation | null,
): Promise<JsonObject> {
  const { world, origins } = scene
  const { ref, before, after } = push
  const full = await deliveredRepository(scene, repository)
  const facts =
    after === null ? [] : await readCommits(world, repository, before === null ? [after] : [`${before}..${after}`], 20)
  const commits = await Promise.all(
    facts.reverse().map(async ({ sha, tree, message, author, committer, parents }) => {
      const files = await changedFiles(world, repository, parents[0] ?? null, sha)
      const named = (status: string) => files.filter(file => file.status === status).map(({ path }) => path)
      return {
        id: sha,
        tree_id: tree,
        distinct: true,
        message,
        timestamp: committer.date,
        url: `${origins.web}/${fullName(repository)}/commit/${sha}`,
        author: { ...author },
        committer: { ...committer },
        added: named('added'),
        removed: named('removed'),
        modified: named('modified'),
      }
    }),
  )
  const seconds = (instant: unknown) => Math.floor(Date.parse(String(instant)) / 1000)
  const payload: JsonObject = {
    ref,
    before: before ?? ZERO,
    after: after ?? ZERO,
    repository: {
      ...full,
      created_at: seconds(full.created_at),
      pushed_at: seconds(full.pushed_at),
      stargazers: repository.stars,
      ...(repository.owner.type === 'Organization' ? { organization: repository.owner.login } : {}),
      master_branch: await defaultBranch(repository),
    },
    pusher: { name: repository.owner.login, email: null },
    sender: simpleAccount(scene, repository.owner),
    created: before === null,
    deleted: after === null,
    forced: false,
    base_ref: null,
    compare: `${origins.web}/${fullName(repository)}/compare/${(before ?? ZERO).slice(0, 12)}...${(after ?? ZERO).slice(0, 12)}`,
    commits,
    head_commit: commits.at(-1) ?? null,
    ...installationPart(installation),
  }
  return payload
}

/** The payload of `repository`, `public`, `member` and the like: what happened to which repository. */
export async function repositoryPayload(
  scene: Scene,
  repository: Repository,
  action: string | null,
  installation: Installation | null,
  more: JsonObject = {},
): Promise<JsonObject> {
  return {
    ...(action === null ? {} : { action }),
    repository: await deliveredRepository(scene, repository),
    sender: simpleAccount(scene, repository.owner),
    ...installationPart(installation),
    ...more,
  }
}

async function deliveredRepository(scene: Scene, repository: Repository): Promise<JsonObject> {
  const { temp_clone_token: _, ...delivered } = await fullRepository(scene, repository)
  return delivered
}

/** The payload of `installation` (`created`, `deleted`, `suspend`, `unsuspend`). */
export async function installationPayload(scene: Scene, installation: Installation, action: string): Promise<JsonObject> {
  const reached = (await scene.world.accountRepositories(installation.account)).filter(one => isInstalledOn(installation, one))
  return {
    action,
    installation: installationBody(scene, installation),
    repositories: reached.map(repositoryPart),
    requester: null,
    sender: simpleAccount(scene, installation.account),
  }
}

/** The payload of `installation_repositories`: what an installation reaches from now on, or no more. */
export function selectionPayload(
  scene: Scene,
  installation: Installation,
  action: 'added' | 'removed',
  repositories: readonly Repository[],
): JsonObject {
  const parts = repositories.map(repositoryPart)
  return {
    action,
    installation: installationBody(scene, installation),
    repository_selection: installation.selection,
    repositories_added: action === 'added' ? parts : [],
    repositories_removed: action === 'removed' ? parts : [],
    requester: null,
    sender: simpleAccount(scene, installation.account),
  }
}

function repositoryPart(repository: Repository): JsonObject {
  const { id, name, visibility } = repository
  return { id, node_id: nodeId('Repository', id), name, full_name: fullName(repository), private: visibility !== 'public' }
}

/** The payload of `github_app_authorization`: a person took the app's authorization back. */
export function authorizationPayload(scene: Scene, person: Account): JsonObject {
  return { action: 'revoked', sender: simpleAccount(scene, person) }
}

function installationPart(installation: Installation | null): JsonObject {
  if (installation === null) return {}
  return { installation: { id: installation.id, node_id: nodeId('Installation', installation.id) } }
}
