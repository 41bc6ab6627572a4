import { accessTo, installationFor } from '../access.ts'
import { appBody, installationBody, installedRepository, simpleAccount } from '../bodies.ts'
import { formatInstant } from '../clock.ts'
import { issueInstallationToken, revokeGrant } from '../credentials.ts'
import { type App, type Installation, isInstalledOn, type Repository } from '../world.ts'
import { type Call, cutPage, findNamed, jsonBody, notFound, type RestAnswer, type Route, redirectTo, refuse } from './call.ts'

export const APP_ROUTES: readonly Route[] = [
  {
    operation: 'GET /app',
    docs: 'apps/apps#get-the-authenticated-app',
    answer: call => withApp(call, app => ({ status: 200, json: appBody(call, app) })),
  },
  {
    operation: 'GET /app/installations',
    docs: 'apps/apps#list-installations-for-the-authenticated-app',
    answer: call =>
      withApp(call, app => {
        const all = [...call.world.installations].filter(installation => installation.app === app)
        const { items, headers } = cutPage(call, all, '/app/installations')
        return { status: 200, json: items.map(installation => installationBody(call, installation)), headers }
      }),
  },
  {
    operation: 'GET /app/installations/{installation_id}',
    docs: 'apps/apps#get-an-installation-for-the-authenticated-app',
    answer: call => withInstallation(call, installation => ({ status: 200, json: installationBody(call, installation) })),
  },
  {
    operation: 'POST /app/installations/{installation_id}/access_tokens',
    docs: 'apps/apps#create-an-installation-access-token-for-an-app',
    answer: call => withInstallation(call, installation => answerToken(call, installation)),
  },
  {
    operation: 'GET /repos/{owner}/{repo}/installation',
    docs: 'apps/apps#get-a-repository-installation-for-the-authenticated-app',
    answer: call =>
      withApp(call, async app => {
        const { repository, moved } = await findNamed(call)
        const installation = repository && installationFor(call.world, app.id, repository)
        if (!repository || !installation) return notFound(call)
        return moved ? redirectTo(call, repository) : { status: 200, json: installationBody(call, installation) }
      }),
  },
  {
    operation: 'GET /installation/repositories',
    docs: 'apps/installations#list-repositories-accessible-to-the-app-installation',
    answer: async call => {
      const { world, credential } = call
      if (credential.kind !== 'installation')
        return refuse(
          call,
          403,
          'You must authenticate with an installation access token in order to list repositories for an installation.',
        )
      const { installation } = credential
      const all = (await world.accountRepositories(installation.account)).filter(
        repository =>
          isInstalledOn(installation, repository) &&
          (credential.repositories === null || credential.repositories.has(repository)) &&
          accessTo(world, credential, repository, 'metadata') !== 'missing',
      )
      const { items, headers } = cutPage(call, all, '/installation/repositories')
      const repositories = await Promise.all(items.map(repository => installedRepository(call, repository)))
      const selection = credential.repositories === null ? installation.selection : 'selected'
      return { status: 200, json: { total_count: all.length, repository_selection: selection, repositories }, headers }
    },
  },
  {
    operation: 'DELETE /installation/token',
    docs: 'apps/installations#revoke-an-installation-access-token',
    answer: call => {
      if (call.credential.kind !== 'installation') return refuse(call, 403, 'Resource not accessible by integration')
      call.world.tokens.delete(call.credential.token)
      return { status: 204 }
    },
  },
  {
    operation: 'POST /applications/{client_id}/token',
    docs: 'apps/oauth-applications#check-a-token',
    answer: call =>
      withTokenOfClient(call, (app, value, token) => ({
        status: 200,
        json: {
          id: app.id,
          url: `${call.origins.api}/authorizations/${app.id}`,
          app: { client_id: app.clientId, name: app.name, url: `${call.origins.web}/apps/${app.slug}` },
          token: value,
          token_last_eight: value.slice(-8),
          hashed_token: null,
          note: null,
          note_url: null,
          fingerprint: null,
          scopes: [],
          created_at: formatInstant(token.issuedAt),
          updated_at: formatInstant(token.issuedAt),
          expires_at: token.endsAt === null ? null : formatInstant(token.endsAt),
          user: simpleAccount(call, token.user),
        },
      })),
  },
  {
    operation: 'DELETE /applications/{client_id}/token',
    docs: 'apps/oauth-applications#delete-an-app-token',
    answer: call =>
      withTokenOfClient(call, (_app, value) => {
        const { tokens, refreshTokens } = call.world
        tokens.delete(value)
        for (const [refresh, { accessToken }] of refreshTokens) if (accessToken === value) refreshTokens.delete(refresh)
        return { status: 204 }
      }),
  },
  {
    operation: 'DELETE /applications/{client_id}/grant',
    docs: 'apps/oauth-applications#delete-an-app-authorization',
    answer: call =>
      withTokenOfClient(call, (app, _value, { user }) => {
        revokeGrant(call.world, app, user)
        return { status: 204 }
      }),
  },
]

/** Only the app itself, by its JWT. */
async function withApp(call: Call, answer: (app: App) => Promise<RestAnswer> | RestAnswer): Promise<RestAnswer> {
  if (call.credential.kind === 'app') return answer(call.credential.app)
  return refuse({ docs: '' }, 401, 'A JSON web token could not be decoded')
}

async function withInstallation(
  call: Call,
  answer: (installation: Installation) => Promise<RestAnswer> | RestAnswer,
): Promise<RestAnswer> {
  return withApp(call, app => {
    const id = Number(call.params[0])
    const installation = [...call.world.installations].find(one => one.id === id && one.app === app)
    return installation ? answer(installation) : notFound(call)
  })
}

/** Scoped down to repositories and permissions that the installation has; anything else is refused as a whole. */
async function answerToken(call: Call, installation: Installation): Promise<RestAnswer> {
  const { world, request } = call
  if (installation.suspendedAt !== null) return refuse(call, 403, 'This installation has been suspended')
  const asked = jsonBody(request)
  const reached = (await world.accountRepositories(installation.account)).filter(one => isInstalledOn(installation, one))
  const chosen = [
    ...listOf(asked.repository_ids).map(id => reached.find(one => one.id === id)),
    ...listOf(asked.repositories).map(name => reached.find(one => one.name === name)),
  ]
  if (chosen.includes(undefined))
    return refuse(
      call,
      422,
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    )
  const permissions = { ...installation.permissions, ...(asked.permissions as Record<string, string> | undefined) }
  if (Object.entries(permissions).some(([name, level]) => !isGranted(installation.permissions[name], level)))
    return refuse(call, 422, 'The permissions requested are not granted to this installation.')
  const wanted = asked.permissions === undefined ? installation.permissions : (asked.permissions as Record<string, string>)
  const scoped = { ...wanted, metadata: 'read' }
  const repositories = chosen.length === 0 ? null : new Set(chosen as Repository[])
  const { token, endsAt } = issueInstallationToken(world, installation, repositories, scoped)
  const scene = { ...call, credential: { kind: 'anonymous' as const } }
  return {
    status: 201,
    json: {
      token,
      expires_at: formatInstant(endsAt),
      permissions: scoped,
      repository_selection: repositories === null ? installation.selection : 'selected',
      ...(repositories && { repositories: await Promise.all([...repositories].map(one => installedRepository(scene, one))) }),
    },
  }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

const LEVELS = ['read', 'write', 'admin']

function isGranted(granted: string | undefined, level: string): boolean {
  return granted !== undefined && LEVELS.indexOf(level) >= 0 && LEVELS.indexOf(level) <= LEVELS.indexOf(granted)
}

/** Only the app's own client id with its secret, about a token that the app was given. */
function withTokenOfClient(
  call: Call,
  answer: (app: App, value: string, token: Extract<ReturnType<Call['world']['tokens']['get']>, { kind: 'user' }>) => RestAnswer,
): RestAnswer {
  const { credential, world, params, request } = call
  if (credential.kind !== 'client' || credential.app === null || credential.clientId !== params[0])
    return refuse(call, 401, 'Requires authentication')
  const { access_token: value } = jsonBody(request)
  if (typeof value !== 'string') return refuse(call, 422, 'Validation Failed', { errors: [] })
  const token = world.tokens.get(value)
  const isLive = token?.kind === 'user' && token.app === credential.app && (token.endsAt ?? Infinity) > world.clock.now()
  return isLive ? answer(credential.app, value, token) : notFound(call)
}
