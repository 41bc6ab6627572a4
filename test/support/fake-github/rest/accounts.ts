import { accessTo, installationFor, roleOf } from '../access.ts'
import {
  installationBody,
  installedRepository,
  minimalRepository,
  organization,
  publicAccount,
  publicRepositories,
} from '../bodies.ts'
import { newestCommitAt } from '../git.ts'
import { type Account, type App, type Installation, isInstalledOn, type Repository } from '../world.ts'
import { addressRefusal, type Call, cutPage, notFound, type RestAnswer, type Route, refuse } from './call.ts'

export const ACCOUNT_ROUTES: readonly Route[] = [
  {
    operation: 'GET /users/{username}',
    docs: 'users/users#get-a-user',
    answer: call => withAccount(call, async account => ({ status: 200, json: await publicAccount(call, account) })),
  },
  {
    operation: 'GET /users/{username}/repos',
    docs: 'repos/repos#list-repositories-for-a-user',
    // Whoever asks sees what everyone sees. That links name an organisation as a user here is UNVERIFIED.
    answer: call =>
      withAccount(call, async account => {
        const all = call.request.query.get('type') === 'member' ? [] : await publicRepositories(call.world, account)
        return listRepositories(call, all, `/user/${account.id}/repos`)
      }),
  },
  {
    operation: 'GET /orgs/{org}',
    docs: 'orgs/orgs#get-an-organization',
    answer: call =>
      withAccount(call, async account =>
        account.type === 'Organization' ? { status: 200, json: await organization(call, account) } : notFound(call),
      ),
  },
  {
    operation: 'GET /user',
    docs: 'users/users#get-the-authenticated-user',
    answer: async call => {
      const { credential } = call
      if (credential.kind === 'personal' || credential.kind === 'user')
        return { status: 200, json: await publicAccount(call, credential.user) }
      if (credential.kind === 'installation') return refuse(call, 403, 'Resource not accessible by integration')
      return refuse(call, 401, 'Requires authentication')
    },
  },
  {
    operation: 'GET /user/repos',
    docs: 'repos/repos#list-repositories-for-the-authenticated-user',
    // Repositories in which the person has a role and that the token may see.
    answer: async call => {
      const { world, credential, request } = call
      if (credential.kind === 'installation') return refuse(call, 403, 'Resource not accessible by integration')
      if (credential.kind !== 'personal' && credential.kind !== 'user') return refuse(call, 401, 'Requires authentication')
      await world.look()
      const visibility = request.query.get('visibility') ?? 'all'
      const seen = [...world.repositories].filter(
        repository =>
          roleOf(credential.user, repository) !== null &&
          accessTo(world, credential, repository, 'metadata') === 'granted' &&
          (visibility === 'all' || (visibility === 'public') === (repository.visibility === 'public')),
      )
      return listRepositories(call, seen, '/user/repos', installedRepository)
    },
  },
  {
    operation: 'GET /user/installations',
    docs: 'apps/installations#list-app-installations-accessible-to-the-user-access-token',
    answer: call =>
      withPersonOfApp(call, (app, user) => {
        const all = [...call.world.installations].filter(one => one.app === app && isShownTo(call, one, user))
        const { items, headers } = cutPage(call, all, '/user/installations')
        const installations = items.map(installation => installationBody(call, installation))
        return { status: 200, json: { total_count: all.length, installations }, headers }
      }),
  },
  {
    operation: 'GET /user/installations/{installation_id}/repositories',
    docs: 'apps/installations#list-repositories-accessible-to-the-user-access-token',
    answer: call =>
      withPersonOfApp(call, async (app, user) => {
        const id = Number(call.params[0])
        const installation = [...call.world.installations].find(one => one.id === id && one.app === app)
        if (!installation || !isShownTo(call, installation, user)) return notFound(call)
        if (installation.suspendedAt !== null) return refuse(call, 403, 'This installation has been suspended')
        if (installation.account.refusesAddress) return refuse(call, 403, addressRefusal(installation.account))
        const all = (await call.world.accountRepositories(installation.account)).filter(
          repository =>
            isInstalledOn(installation, repository) && (repository.visibility === 'public' || roleOf(user, repository) !== null),
        )
        const { items, headers } = cutPage(call, all, `/user/installations/${id}/repositories`)
        const repositories = await Promise.all(items.map(repository => installedRepository(call, repository)))
        return {
          status: 200,
          json: { total_count: all.length, repository_selection: installation.selection, repositories },
          headers,
        }
      }),
  },
]

async function withAccount(call: Call, answer: (account: Account) => Promise<RestAnswer>): Promise<RestAnswer> {
  const account = await call.world.account(call.params[0] ?? '')
  return account === null ? notFound(call) : answer(account)
}

/** Only tokens that a person gave the app. */
async function withPersonOfApp(
  call: Call,
  answer: (app: App, user: Account) => Promise<RestAnswer> | RestAnswer,
): Promise<RestAnswer> {
  const { credential } = call
  if (credential.kind === 'anonymous' || credential.kind === 'client') return refuse(call, 401, 'Requires authentication')
  if (credential.kind === 'user') {
    await call.world.look()
    return answer(credential.app, credential.user)
  }
  return refuse(call, 403, 'You must authenticate with an access token authorized to a GitHub App in order to list installations')
}

/** One's own, and those of organisations where one may open a repository that the installation reaches. */
function isShownTo({ world }: Call, installation: Installation, user: Account): boolean {
  if (installation.account === user) return true
  return [...world.repositories].some(
    repository => installationFor(world, installation.app.id, repository) === installation && roleOf(user, repository) !== null,
  )
}

async function listRepositories(
  call: Call,
  repositories: readonly Repository[],
  path: string,
  bodyOf: typeof minimalRepository = minimalRepository,
): Promise<RestAnswer> {
  const { query } = call.request
  const sort = query.get('sort') ?? 'full_name'
  const descending = (query.get('direction') ?? (sort === 'full_name' ? 'asc' : 'desc')) === 'desc'
  const keyed = await Promise.all(
    repositories.map(async repository => ({ repository, key: await sortKey(call, sort, repository), name: repository.name })),
  )
  keyed.sort((left, right) => compareText(left.key, right.key) || compareText(left.name, right.name))
  if (descending) keyed.reverse()
  const { items, headers } = cutPage(call, keyed, path)
  return { status: 200, json: await Promise.all(items.map(({ repository }) => bodyOf(call, repository))), headers }
}

async function sortKey({ world }: Call, sort: string, repository: Repository): Promise<string> {
  if (sort === 'created') return repository.createdAt
  if (sort !== 'pushed' && sort !== 'updated') return repository.name.toLowerCase()
  if (repository.pushedAt !== null) return new Date(repository.pushedAt).toISOString()
  return new Date((await newestCommitAt(world, repository)) ?? repository.createdAt).toISOString()
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
