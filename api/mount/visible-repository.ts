import { ServiceError } from '#core/errors.ts'
import type { GitHost, HostAnswer, HostRepository } from '#core/ports/git-host.ts'
import type { Deps } from '../deps.ts'
import type { RepositoryName } from '../operator/repository-rule.ts'
import { type KeyedViewer, maySee, type TokenViewer, type Viewer } from '../people/viewer.ts'

/** Segment of the host with whose accounts people sign in: of no other host a person is asked about. */
const PEOPLE_HOST = 'gh'
const MISSING = { status: 'missing' } as const

/**
 * The repository, if the viewer may learn that it exists. The host is asked first what everybody sees, then what the person of the viewer sees;
 * nothing else is touched before. "Does not exist" and "not yours to see" are the same `missing`, so nothing above can tell them apart.
 *
 * @throws ServiceError `auth.required` for a token of another repository, whatever it asks for, and as `People.see`
 */
export async function findVisible(
  deps: Pick<Deps, 'people'>,
  viewer: Viewer,
  host: GitHost,
  name: RepositoryName,
): Promise<HostAnswer<HostRepository>> {
  const found = await host.repository(name.owner, name.repository)
  switch (viewer.kind) {
    case 'anonymous':
    case 'own_process':
      return ifSeen(viewer, found)
    case 'person':
      return isShown(found) ? found : await see(deps, viewer, host, name, ifSeen(viewer, found))
    case 'token':
      return await seeWithToken(deps, viewer, host, name, found)
  }
}

async function seeWithToken(
  deps: Pick<Deps, 'people'>,
  viewer: TokenViewer,
  host: GitHost,
  name: RepositoryName,
  found: HostAnswer<HostRepository>,
): Promise<HostAnswer<HostRepository>> {
  const { repository } = viewer
  const isItsHost = repository.host === host.segment
  if (isItsHost && found.status === 'ok' && found.value.id === repository.id) {
    // The operator made the token for this local repository, so that the marker of the repository does not hide it.
    if (host.segment !== PEOPLE_HOST || isShown(found)) return found
  }
  const seen = isItsHost && !isShown(found) ? await see(deps, viewer, host, name, ifSeen(viewer, found)) : MISSING
  // Under its former name, or under the one that it has by now.
  if (seen.status !== 'missing' || (isItsHost && isNamed(name, repository))) return seen
  throw new ServiceError('auth.required')
}

/** What the person sees. Only if the host knows neither the one nor the other, its trouble is the answer. */
async function see(
  { people }: Pick<Deps, 'people'>,
  viewer: KeyedViewer,
  host: GitHost,
  name: RepositoryName,
  found: HostAnswer<HostRepository>,
): Promise<HostAnswer<HostRepository>> {
  if (people === null || host.segment !== PEOPLE_HOST) return found
  const seen = await people.see(viewer, name.owner, name.repository)
  if (seen.status !== 'ok' || seen.value.visibility === 'private') return seen
  // It has just become public: then it is read as everybody reads it.
  const shown = await host.repository(seen.value.owner, seen.value.name)
  return shown.status === 'missing' ? seen : shown
}

function ifSeen(viewer: Viewer, found: HostAnswer<HostRepository>): HostAnswer<HostRepository> {
  return found.status === 'ok' && !maySee(viewer, found.value) ? MISSING : found
}

/** Whether everybody sees it. */
function isShown(found: HostAnswer<HostRepository>): boolean {
  return found.status === 'ok' && found.value.visibility === 'public'
}

/** Names of hosts whose accounts sign in ignore case. */
function isNamed(name: RepositoryName, { owner, name: repository }: TokenViewer['repository']): boolean {
  return `${name.owner}/${name.repository}`.toLowerCase() === `${owner}/${repository}`.toLowerCase()
}
