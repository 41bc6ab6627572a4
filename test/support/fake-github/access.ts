import type { Credential } from './credentials.ts'
import { type Account, type Installation, isInstalledOn, type Repository, type Role, type World } from './world.ts'

/** What the host says about a repository to someone who asks for it. */
export type Access = 'granted' | 'missing' | 'blocked' | 'saml' | 'suspended' | 'refused' | 'forbidden' | 'address'

/** Reading contents asks for more than seeing that the repository is there. */
export type Purpose = 'metadata' | 'contents'

export function accessTo(world: World, credential: Credential, repository: Repository, purpose: Purpose): Access {
  const access = visibilityOf(world, credential, repository)
  if (access !== 'granted') return access
  if (repository.blocked !== null) return 'blocked'
  if (repository.owner.refusesAddress && CARRIED.has(credential.kind)) return 'address'
  const { visibility } = repository
  if (purpose === 'contents' && visibility !== 'public' && permissionsOf(world, credential, repository)?.contents === undefined)
    return 'forbidden'
  return 'granted'
}

/** Without one of these, public repositories are shown to every address. */
const CARRIED: ReadonlySet<Credential['kind']> = new Set(['personal', 'user', 'installation'])

function visibilityOf(world: World, credential: Credential, repository: Repository): Access {
  const isPublic = repository.visibility === 'public'
  switch (credential.kind) {
    case 'anonymous':
    case 'client':
    case 'invalid':
      return isPublic ? 'granted' : 'missing'
    // What the real host answers to an app's JWT here is UNVERIFIED; the app has nothing to ask with it.
    case 'app':
      return 'missing'
    case 'installation': {
      const { installation, repositories } = credential
      if (isPublic) return 'granted'
      const isCovered = isInstalledOn(installation, repository) && (repositories === null || repositories.has(repository))
      return isCovered ? 'granted' : 'missing'
    }
    case 'personal':
    case 'user': {
      const { user } = credential
      if (isPublic && repository.owner.refusesTokens !== null) return 'refused'
      if (isPublic) return isKeptOutBySaml(user, repository) ? 'saml' : 'granted'
      if (roleOf(user, repository) === null) return 'missing'
      if (credential.kind === 'personal') {
        if (!credential.scopes.includes('repo')) return 'missing'
      } else {
        const installation = installationFor(world, credential.app.id, repository)
        if (installation === null) return 'missing'
        if (installation.suspendedAt !== null) return 'suspended'
      }
      return isKeptOutBySaml(user, repository) ? 'saml' : 'granted'
    }
  }
}

/** UNVERIFIED whether the real host asks members of the organisation for the sign-in on public repositories too; some report so. */
function isKeptOutBySaml(user: Account, { owner }: Repository): boolean {
  return owner.saml !== null && owner.members.has(user) && !owner.saml.authorized.has(user)
}

export function installationFor(world: World, appId: number, repository: Repository): Installation | null {
  return [...world.installations].find(one => one.app.id === appId && isInstalledOn(one, repository)) ?? null
}

/** The permissions of an app at the repository; every one for credentials that are no app's. */
function permissionsOf(world: World, credential: Credential, repository: Repository): Record<string, string> | null {
  if (credential.kind === 'installation') return credential.permissions
  if (credential.kind === 'user') return installationFor(world, credential.app.id, repository)?.permissions ?? null
  return { contents: 'write', metadata: 'read' }
}

/** What the person may do in the repository; `null` for nothing, and for what everyone may do. */
export function roleOf(user: Account, repository: Repository): Role | null {
  if (repository.owner === user) return 'admin'
  const membership = repository.owner.members.get(user)
  if (membership === 'admin') return 'admin'
  const own = repository.collaborators.get(user) ?? null
  if (membership === undefined) return own
  const base =
    repository.visibility === 'internal' ? (repository.owner.basePermission ?? 'read') : repository.owner.basePermission
  return higher(own, base)
}

const ROLES: readonly (Role | null)[] = [null, 'read', 'triage', 'write', 'maintain', 'admin']

function higher(left: Role | null, right: Role | null): Role | null {
  return ROLES.indexOf(left) > ROLES.indexOf(right) ? left : right
}

export function hasRole(role: Role | null, atLeast: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(atLeast)
}
