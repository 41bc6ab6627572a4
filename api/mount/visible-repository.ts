import { ServiceError } from '#core/errors.ts'
import type { GitHost, HostAnswer, HostRepository } from '#core/ports/git-host.ts'
import type { Deps } from '../deps.ts'
import type { RepositoryName } from '../operator/repository-rule.ts'
import { PEOPLE_HOST } from '../people/people.ts'
import { type KeyedViewer, maySee, type PersonViewer, type TokenViewer, type Viewer } from '../people/viewer.ts'

const MISSING = { status: 'missing' } as const

type Looking = Pick<Deps, 'people' | 'names'>
type Answer = HostAnswer<HostRepository>

/**
 * The repository, if the viewer may learn that it exists. Only the host is asked, anonymously or with the person's credential, before anything
 * else of the repository is read. "Does not exist" and "not yours to see" are the same `missing`, so that callers cannot tell them apart.
 *
 * For a person, a name that is not known to be public is not looked up anonymously first: a faster, cached answer would tell others that the
 * name was asked for.
 *
 * @throws ServiceError `auth.required` for a token of another repository, and as `People.see`
 */
export async function findVisible(deps: Looking, viewer: Viewer, host: GitHost, name: RepositoryName): Promise<Answer> {
  switch (viewer.kind) {
    case 'anonymous':
    case 'own_process':
      return await look(viewer, host, name)
    case 'person':
      return host.segment === PEOPLE_HOST ? await findForPerson(deps, viewer, host, name) : await look(viewer, host, name)
    case 'token':
      return await findForToken(deps, viewer, host, name)
  }
}

async function findForPerson(deps: Looking, viewer: PersonViewer, host: GitHost, name: RepositoryName): Promise<Answer> {
  if (deps.names.isPublic(name)) {
    const shown = await look(viewer, host, name)
    if (shown.status === 'ok') return shown
  }
  return await see(deps, viewer, host, name)
}

/** A name that is not that of the token's repository is refused before anything is asked about it: the time would tell which names its person sees. */
async function findForToken(deps: Looking, viewer: TokenViewer, host: GitHost, name: RepositoryName): Promise<Answer> {
  const { repository } = viewer
  if (repository.host !== host.segment) throw new ServiceError('auth.required')
  const isOfPeople = host.segment === PEOPLE_HOST
  if (!isNamed(name, repository)) {
    const own = isOfPeople && deps.people !== null ? await deps.people.seeOwn(viewer) : MISSING
    if (own.status !== 'ok' && own.status !== 'missing') return own
    // Under the name that the repository has by now.
    if (own.status === 'missing' || !isNamed(name, own.value)) throw new ServiceError('auth.required')
  }
  return isOfPeople ? await findForGrant(deps, viewer, host, name) : await findLocal(viewer, host, name)
}

async function findForGrant(deps: Looking, viewer: TokenViewer, host: GitHost, name: RepositoryName): Promise<Answer> {
  if (deps.names.isPublic(name)) {
    const shown = await look(viewer, host, name)
    if (shown.status === 'ok' && shown.value.id === viewer.repository.id) return shown
  }
  const seen = await see(deps, viewer, host, name)
  return seen.status === 'ok' && seen.value.id !== viewer.repository.id ? MISSING : seen
}

/** The operator made the token for this repository, so that the marker of private ones does not hide it. */
async function findLocal({ repository }: TokenViewer, host: GitHost, name: RepositoryName): Promise<Answer> {
  const found = await host.repository(name.owner, name.repository)
  return found.status === 'ok' && found.value.id !== repository.id ? MISSING : found
}

/** What the person sees: a private repository, or a public one as everybody reads it. */
async function see({ people }: Looking, viewer: KeyedViewer, host: GitHost, name: RepositoryName): Promise<Answer> {
  const seen = people === null ? MISSING : await people.see(viewer, name.owner, name.repository)
  if (seen.status === 'ok' && seen.value.visibility === 'private') return seen
  const shown = await look(viewer, host, name)
  // It may have become public just now, or be private while the host cannot be asked for the person.
  return shown.status === 'missing' ? seen : shown
}

/** What everybody sees. */
async function look(viewer: Viewer, host: GitHost, name: RepositoryName): Promise<Answer> {
  const found = await host.repository(name.owner, name.repository)
  return found.status === 'ok' && !maySee(viewer, found.value) ? MISSING : found
}

/** Names of GitHub ignore case. */
function isNamed(name: RepositoryName, { owner, name: repository }: Pick<HostRepository, 'owner' | 'name'>): boolean {
  return `${name.owner}/${name.repository}`.toLowerCase() === `${owner}/${repository}`.toLowerCase()
}
