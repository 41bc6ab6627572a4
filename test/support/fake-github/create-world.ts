import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { access, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type FakeClock, formatInstant } from './clock.ts'
import {
  type Account,
  type App,
  type Installation,
  isSameName,
  type Repository,
  type RepositoryPlace,
  sourceOf,
  type World,
} from './world.ts'

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
        refusesTokens: null,
        refusesAddress: false,
        suspended: false,
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
      for (const one of [...held, world.refreshTokens, world.codes, former, removed, usedIds]) one.clear()
      world.browser = null
      world.privateMode = false
      world.ambiguousRefs = 'branch'
    },
  }
  return world
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
