import { hasRole, roleOf } from './access.ts'
import { formatInstant } from './clock.ts'
import type { Credential } from './credentials.ts'
import { defaultBranch, newestCommitAt } from './git.ts'
import type { Origins } from './kinds.ts'
import { example, type JsonObject } from './schema.ts'
import { type Account, type Installation, type Repository, sourceOf, type World } from './world.ts'

/** What every body is made from. */
export interface Scene {
  world: World
  origins: Origins
  credential: Credential
}

/** The description's example with this host's addresses, and another repository's or account's name where `names` gives one. */
function exampleHere(name: string, origins: Origins, names: Readonly<Record<string, string>> = {}): JsonObject {
  let text = JSON.stringify(example(name))
  for (const [from, to] of Object.entries(names)) text = text.replaceAll(from, to)
  text = text.replaceAll('https://api.github.com', origins.api).replaceAll('https://github.com', origins.web)
  return JSON.parse(text)
}

export function nodeId(kind: string, id: number | string): string {
  return Buffer.from(`${kind.length}:${kind}${id}`).toString('base64')
}

export function fullName(repository: Repository): string {
  return `${repository.owner.login}/${repository.name}`
}

/** An account as it stands in other bodies. */
export function simpleAccount({ origins }: Pick<Scene, 'origins'>, account: Account): JsonObject {
  const url = `${origins.api}/users/${account.login}`
  return {
    login: account.login,
    id: account.id,
    node_id: nodeId(account.type, account.id),
    avatar_url: `${origins.avatars}/u/${account.id}?v=4`,
    gravatar_id: '',
    url,
    html_url: `${origins.web}/${account.login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: account.type,
    user_view_type: 'public',
    site_admin: false,
  }
}

/** `GET /users/{username}`, of persons and organisations alike, and `GET /user` of a token that sees no private details. */
export async function publicAccount(scene: Scene, account: Account): Promise<JsonObject> {
  return {
    ...simpleAccount(scene, account),
    name: account.name,
    company: null,
    blog: '',
    location: null,
    email: null,
    hireable: null,
    bio: account.type === 'User' ? account.bio : null,
    twitter_username: null,
    public_repos: (await publicRepositories(scene.world, account)).length,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: account.createdAt,
    updated_at: account.createdAt,
  }
}

/** `GET /orgs/{org}`. The real host answers `null` for texts that are not set, which its description forbids: they are left out here. */
export async function organization(scene: Scene, account: Account): Promise<JsonObject> {
  const { origins } = scene
  const { login, id } = account
  const url = `${origins.api}/orgs/${login}`
  return {
    login,
    id,
    node_id: nodeId('Organization', id),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: `${origins.avatars}/u/${id}?v=4`,
    description: account.description,
    ...(account.name === null ? {} : { name: account.name }),
    twitter_username: null,
    is_verified: false,
    has_organization_projects: true,
    has_repository_projects: true,
    public_repos: (await publicRepositories(scene.world, account)).length,
    public_gists: 0,
    followers: 0,
    following: 0,
    html_url: `${origins.web}/${login}`,
    created_at: account.createdAt,
    updated_at: account.createdAt,
    archived_at: null,
    type: 'Organization',
  }
}

/** What everyone is shown to be there, blocked repositories among them: the real host lists those too. */
export async function publicRepositories(world: World, account: Account): Promise<Repository[]> {
  return (await world.accountRepositories(account)).filter(({ visibility }) => visibility === 'public')
}

/** `GET /repos/{owner}/{repo}`. */
export async function fullRepository(scene: Scene, repository: Repository): Promise<JsonObject> {
  const { forkOf, owner } = repository
  const body = { ...exampleRepository(scene, 'repository', repository), ...(await repositoryFacts(scene, repository)) }
  for (const key of ['organization', 'parent', 'source', 'template_repository']) delete body[key]
  const isNobody = scene.credential.kind === 'anonymous' || scene.credential.kind === 'client'
  if (isNobody) {
    for (const key of ['allow_rebase_merge', 'allow_squash_merge', 'allow_auto_merge', 'allow_merge_commit']) delete body[key]
    delete body.delete_branch_on_merge
  }
  return {
    ...body,
    temp_clone_token: isNobody ? null : '',
    custom_properties: {},
    subscribers_count: 0,
    network_count: scene.world.network(repository).length - 1,
    ...(owner.type === 'Organization' ? { organization: simpleAccount(scene, owner) } : {}),
    ...(forkOf ? { parent: await partRepository(scene, forkOf), source: await partRepository(scene, sourceOf(repository)) } : {}),
  }
}

/** A repository inside another's body. */
async function partRepository(scene: Scene, repository: Repository): Promise<JsonObject> {
  const body = { ...exampleRepository(scene, 'repository', repository), ...(await repositoryFacts(scene, repository)) }
  const left = [
    'organization',
    'parent',
    'source',
    'template_repository',
    'temp_clone_token',
    'subscribers_count',
    'network_count',
  ]
  for (const key of left) delete body[key]
  return body
}

/** A repository in a listing. */
export async function minimalRepository(scene: Scene, repository: Repository): Promise<JsonObject> {
  const body = exampleRepository(scene, 'minimalRepositories', repository)
  delete body.security_and_analysis
  return { ...body, ...(await repositoryFacts(scene, repository)) }
}

/** A repository in a listing of an installation. */
export async function installedRepository(scene: Scene, repository: Repository): Promise<JsonObject> {
  return partRepository(scene, repository)
}

function exampleRepository({ origins }: Scene, name: string, repository: Repository): JsonObject {
  return exampleHere(name, origins, { 'octocat/Hello-World': fullName(repository) })
}

async function repositoryFacts(scene: Scene, repository: Repository): Promise<JsonObject> {
  const { world, origins } = scene
  const { id, name, owner, visibility, forkOf, stars, createdAt } = repository
  const [branch, newest] = await Promise.all([defaultBranch(repository), newestCommitAt(world, repository)])
  const forks = [...world.repositories].filter(one => one.forkOf === repository).length
  // The real host tells when a repository was pushed to, also while it is empty.
  const pushedAt = repository.pushedAt ?? (newest === null ? createdAt : formatInstant(newest))
  return {
    id,
    node_id: nodeId('Repository', id),
    name,
    full_name: fullName(repository),
    owner: simpleAccount(scene, owner),
    private: visibility !== 'public',
    html_url: `${origins.web}/${fullName(repository)}`,
    description: repository.description,
    fork: forkOf !== null,
    clone_url: `${origins.web}/${fullName(repository)}.git`,
    svn_url: `${origins.web}/${fullName(repository)}`,
    mirror_url: null,
    homepage: repository.homepage,
    language: null,
    license: null,
    forks_count: forks,
    forks,
    stargazers_count: stars,
    watchers_count: stars,
    watchers: stars,
    size: newest === null ? 0 : 108,
    default_branch: branch,
    open_issues_count: 0,
    open_issues: 0,
    topics: repository.topics,
    archived: repository.archived,
    disabled: repository.disabled,
    visibility,
    pushed_at: pushedAt,
    created_at: createdAt,
    updated_at: pushedAt,
    ...permissionsOf(scene.credential, repository),
  }
}

function permissionsOf(credential: Credential, repository: Repository): JsonObject {
  if (credential.kind === 'installation') {
    const none = { admin: false, maintain: false, push: false, triage: false }
    return { permissions: { ...none, pull: false } }
  }
  if (credential.kind !== 'personal' && credential.kind !== 'user') return {}
  const role = roleOf(credential.user, repository)
  return {
    permissions: {
      admin: role === 'admin',
      maintain: hasRole(role, 'maintain'),
      push: hasRole(role, 'write'),
      triage: hasRole(role, 'triage'),
      pull: true,
    },
  }
}

export function installationBody(scene: Scene, installation: Installation): JsonObject {
  const { id, app, account, selection, permissions, suspendedAt, createdAt } = installation
  const { origins } = scene
  const settings = account.type === 'Organization' ? `organizations/${account.login}/settings` : 'settings'
  return {
    id,
    client_id: app.clientId,
    account: simpleAccount(scene, account),
    repository_selection: selection,
    access_tokens_url: `${origins.api}/app/installations/${id}/access_tokens`,
    repositories_url: `${origins.api}/installation/repositories`,
    html_url: `${origins.web}/${settings}/installations/${id}`,
    app_id: app.id,
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.type,
    permissions,
    events: ['push', 'repository'],
    created_at: createdAt,
    updated_at: createdAt,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: suspendedAt === null ? null : simpleAccount(scene, account),
    suspended_at: suspendedAt,
  }
}
