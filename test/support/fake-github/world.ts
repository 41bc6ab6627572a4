import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { access, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type FakeClock, formatInstant } from './clock.ts'

/**
 * Everything the stand-in knows. Tests change its objects in place: `repository.visibility = 'private'` is what the host
 * says from the next request on.
 */
export interface World {
  readonly clock: FakeClock
  readonly accounts: Set<Account>
  readonly repositories: Set<Repository>
  readonly apps: Set<App>
  readonly installations: Set<Installation>
  /** `client_id` of OAuth apps, which have nothing but a secret. */
  readonly oauthClients: Map<string, string>
  readonly tokens: Map<string, Token>
  readonly refreshTokens: Map<string, RefreshToken>
  readonly codes: Map<string, Code>
  /** Tokens of archive links; the value is when they end. */
  readonly archiveTokens: Map<string, number>
  /** Who sits at the browser that is sent to the sign-in page, and what that person decides. */
  browser: { user: Account; approves: boolean } | null
  /** As on an Enterprise Server that shows nothing to who is not signed in. */
  privateMode: boolean
  /** Which one a name means that is both a branch and a tag. UNVERIFIED of the real host: a driver must not depend on it. */
  ambiguousRefs: 'branch' | 'tag'

  /** Takes in what has come to lie in the folder, and lets go of what is gone. Look-ups and listings do so by themselves. */
  look(): Promise<void>
  account(login: string): Promise<Account | null>
  /** Any case; never one that was renamed. */
  repository(owner: string, name: string): Promise<Repository | null>
  repositoryById(id: number): Promise<Repository | null>
  accountRepositories(account: Account): Promise<Repository[]>
  /** The repository that had this name before. */
  renamed(owner: string, name: string): Repository | null
  /** Of the same fork network: whose objects all of them can read by id. */
  network(repository: Repository): Repository[]

  addAccount(login: string, type: Account['type'], options?: Partial<AccountOptions>): Account
  addRepository(place: RepositoryPlace, options?: Partial<RepositoryOptions>): Repository
  rename(repository: Repository, to: { owner?: Account; name?: string }): void
  remove(repository: Repository): void
  addApp(slug: string, options?: Partial<AppOptions>): App
  install(app: App, account: Account, options?: Partial<InstallationOptions>): Installation
  /** Forgets everything; what lies in the folder is found again. */
  clear(): void
}

export type Role = 'read' | 'triage' | 'write' | 'maintain' | 'admin'

export interface AccountOptions {
  name: string | null
  /** The text of a person; an organisation has its text as `description`. */
  bio: string | null
  description: string | null
  avatar: AvatarKind
  createdAt: string
  /** Of an organisation. */
  members: Map<Account, 'member' | 'admin'>
  /** What members may do in every private repository of the organisation. */
  basePermission: Role | null
  /** Of an organisation: persons must have signed in to it. Those who did are here. */
  saml: { authorized: Set<Account> } | null
}

export interface Account extends AccountOptions {
  readonly id: number
  readonly type: 'User' | 'Organization'
  login: string
}

export type AvatarKind = 'png' | 'svg' | 'html' | 'huge' | 'redirect' | 'missing'

export interface RepositoryPlace {
  owner: string
  name: string
  gitDir: string
}

export interface RepositoryOptions {
  visibility: 'public' | 'private' | 'internal'
  /** Default: the description file of the git folder. */
  description: string | null
  homepage: string | null
  topics: string[]
  archived: boolean
  disabled: boolean
  stars: number
  /** Makes it a fork: of one network with this repository. */
  forkOf: Repository | null
  /** Default: the date of the newest commit. */
  pushedAt: string | null
  createdAt: string
  blocked: Blocked | null
  /** Entries after which a recursive tree is cut. */
  treeLimit: number
  /** Beside the owner and the members of an organisation. */
  collaborators: Map<Account, Role>
}

export interface Repository extends RepositoryOptions {
  readonly id: number
  readonly gitDir: string
  owner: Account
  name: string
}

export interface Blocked {
  reason: 'dmca' | 'tos' | 'unavailable'
  createdAt: string
}

export interface AppOptions {
  name: string
  owner: Account
  clientId: string
  clientSecret: string
  webhookSecret: string
  callbackUrls: string[]
  setupUrl: string | null
  permissions: Record<string, string>
  /** Whether the tokens of persons end after eight hours and come with a refresh token. */
  expiringTokens: boolean
}

export interface App extends AppOptions {
  readonly id: number
  readonly slug: string
  readonly createdAt: string
  /** PKCS#8 PEM. */
  readonly privateKey: string
  readonly publicKey: string
}

export interface InstallationOptions {
  selection: 'all' | 'selected'
  /** What `selected` selects. */
  repositories: Set<Repository>
  suspendedAt: string | null
  permissions: Record<string, string>
}

export interface Installation extends InstallationOptions {
  readonly id: number
  readonly app: App
  readonly account: Account
  readonly createdAt: string
}

export type Token =
  | { kind: 'personal'; user: Account; scopes: string[]; endsAt: number | null }
  | { kind: 'user'; user: Account; app: App; endsAt: number | null; issuedAt: number }
  | {
      kind: 'installation'
      installation: Installation
      /** `null`: whatever the installation covers. */
      repositories: Set<Repository> | null
      permissions: Record<string, string>
      endsAt: number
    }

export interface RefreshToken {
  user: Account
  app: App
  accessToken: string
  endsAt: number
}

export interface Code {
  user: Account
  app: App
  redirectUri: string | null
  challenge: string | null
  endsAt: number
}

const CREATED_AT = '2020-01-01T00:00:00Z'
const DEFAULT_TREE_LIMIT = 100_000

/** @param root folder of `<owner>/<name>.git` or `<owner>/<name>/.git`; what lies there is served without being added */
export function createWorld(clock: FakeClock, root: string | null): World {
  const usedIds = new Set<number>()
  const former = new Map<string, Repository>()
  const removed = new Set<string>()

  /** The same names get the same ids in every run; a name that is used again gets another one. */
  const idFor = (seed: string): number => {
    let id = createHash('sha1').update(seed.toLowerCase()).digest().readUInt32BE() % 900_000_000
    while (id < 1000 || usedIds.has(id)) id++
    usedIds.add(id)
    return id
  }

  const findAccount = (login: string) => [...world.accounts].find(account => isSameName(account.login, login)) ?? null
  const findRepository = (owner: string, name: string) =>
    [...world.repositories].find(one => isSameName(one.owner.login, owner) && isSameName(one.name, name)) ?? null

  const look = async (): Promise<void> => {
    for (const repository of world.repositories) {
      if (!(await isThere(join(repository.gitDir, 'HEAD')))) world.repositories.delete(repository)
    }
    if (root === null) return
    for (const place of await findPlaces(root)) {
      const isKnown = [...world.repositories].some(({ gitDir }) => gitDir === place.gitDir) || removed.has(place.gitDir)
      if (!isKnown && !findRepository(place.owner, place.name)) world.addRepository(place)
    }
  }

  /** What is known and still there, or what a look at the folder brings. */
  const lookedUp = async (find: () => Repository | null): Promise<Repository | null> => {
    const known = find()
    if (known && (await isThere(join(known.gitDir, 'HEAD')))) return known
    await look()
    return find()
  }

  const world: World = {
    clock,
    accounts: new Set(),
    repositories: new Set(),
    apps: new Set(),
    installations: new Set(),
    oauthClients: new Map(),
    tokens: new Map(),
    refreshTokens: new Map(),
    codes: new Map(),
    archiveTokens: new Map(),
    browser: null,
    privateMode: false,
    ambiguousRefs: 'branch',

    look,
    async account(login) {
      if (!findAccount(login)) await look()
      return findAccount(login)
    },
    repository: (owner, name) => lookedUp(() => findRepository(owner, name)),
    repositoryById: id => lookedUp(() => [...world.repositories].find(repository => repository.id === id) ?? null),
    async accountRepositories(account) {
      await look()
      return [...world.repositories].filter(repository => repository.owner === account)
    },
    renamed(owner, name) {
      const repository = former.get(`${owner}/${name}`.toLowerCase())
      return repository && world.repositories.has(repository) ? repository : null
    },
    network(repository) {
      const source = sourceOf(repository)
      return [...world.repositories].filter(one => sourceOf(one) === source)
    },

    addAccount(login, type, options = {}) {
      const known = findAccount(login)
      if (known && known.type === type) return Object.assign(known, options)
      if (known) world.accounts.delete(known)
      const account: Account = {
        id: idFor(`account ${login}`),
        type,
        login,
        name: null,
        bio: null,
        description: null,
        avatar: 'png',
        createdAt: CREATED_AT,
        members: new Map(),
        basePermission: 'read',
        saml: null,
        ...options,
      }
      world.accounts.add(account)
      for (const repository of world.repositories) if (repository.owner === known) repository.owner = account
      return account
    },
    addRepository({ owner, name, gitDir }, options = {}) {
      const known = findRepository(owner, name)
      if (known) return Object.assign(known, options)
      removed.delete(gitDir)
      former.delete(`${owner}/${name}`.toLowerCase())
      const repository: Repository = {
        id: idFor(`repository ${owner}/${name}`),
        gitDir,
        owner: findAccount(owner) ?? world.addAccount(owner, 'User'),
        name,
        visibility: 'public',
        description: readDescription(gitDir),
        homepage: null,
        topics: [],
        archived: false,
        disabled: false,
        stars: 0,
        forkOf: null,
        pushedAt: null,
        createdAt: CREATED_AT,
        blocked: null,
        treeLimit: DEFAULT_TREE_LIMIT,
        collaborators: new Map(),
        ...options,
      }
      world.repositories.add(repository)
      return repository
    },
    rename(repository, { owner = repository.owner, name = repository.name }) {
      former.set(`${repository.owner.login}/${repository.name}`.toLowerCase(), repository)
      former.delete(`${owner.login}/${name}`.toLowerCase())
      repository.owner = owner
      repository.name = name
    },
    remove(repository) {
      world.repositories.delete(repository)
      removed.add(repository.gitDir)
    },
    addApp(slug, options = {}) {
      const keys = appKeys()
      const id = idFor(`app ${slug}`)
      const app: App = {
        id,
        slug,
        name: slug,
        owner: options.owner ?? findAccount(slug) ?? world.addAccount(slug, 'User'),
        clientId: `Iv23li${createHash('sha1').update(slug).digest('hex').slice(0, 14)}`,
        clientSecret: randomBytes(20).toString('hex'),
        webhookSecret: randomBytes(20).toString('hex'),
        callbackUrls: [],
        setupUrl: null,
        permissions: { contents: 'read', metadata: 'read' },
        expiringTokens: true,
        createdAt: CREATED_AT,
        ...keys,
        ...options,
      }
      world.apps.add(app)
      return app
    },
    install(app, account, options = {}) {
      const installation: Installation = {
        id: idFor(`installation ${app.slug} ${account.login}`),
        app,
        account,
        selection: 'all',
        repositories: new Set(),
        suspendedAt: null,
        permissions: { ...app.permissions },
        createdAt: formatInstant(clock.now()),
        ...options,
      }
      world.installations.add(installation)
      return installation
    },
    clear() {
      const held = [world.accounts, world.repositories, world.apps, world.installations, world.oauthClients, world.tokens]
      for (const one of [...held, world.refreshTokens, world.codes, world.archiveTokens, former, removed, usedIds]) one.clear()
      world.browser = null
      world.privateMode = false
      world.ambiguousRefs = 'branch'
    },
  }
  return world
}

export function isSameName(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase()
}

export function sourceOf(repository: Repository): Repository {
  return repository.forkOf === null ? repository : sourceOf(repository.forkOf)
}

/** Whether the installation reaches the repository, suspended or not. */
export function isInstalledOn(installation: Installation, repository: Repository): boolean {
  if (installation.account !== repository.owner) return false
  return installation.selection === 'all' || installation.repositories.has(repository)
}

let madeKeys: { privateKey: string; publicKey: string } | null = null

/** One pair for all apps of the process: making one takes a tenth of a second. */
function appKeys(): { privateKey: string; publicKey: string } {
  madeKeys ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  return madeKeys
}

async function findPlaces(root: string): Promise<RepositoryPlace[]> {
  const places: RepositoryPlace[] = []
  for (const owner of await listFolders(root)) {
    for (const folder of await listFolders(join(root, owner))) {
      const inner = join(root, owner, folder, '.git')
      const gitDir = (await isThere(join(inner, 'HEAD'))) ? inner : join(root, owner, folder)
      if (await isThere(join(gitDir, 'HEAD'))) places.push({ owner, name: folder.replace(/\.git$/, ''), gitDir })
    }
  }
  return places
}

async function listFolders(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  return entries
    .filter(entry => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort()
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function readDescription(gitDir: string): string | null {
  const text = readIfThere(join(gitDir, 'description')).trim()
  return text === '' || text.startsWith('Unnamed repository') ? null : text
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
