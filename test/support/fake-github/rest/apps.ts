import { installationFor } from '../access.ts'
import { installationBody, installedRepository } from '../bodies.ts'
import { formatInstant } from '../clock.ts'
import { issueInstallationToken, revokeGrant } from '../credentials.ts'
import { type App, type Installation, isInstalledOn, type Repository } from '../world.ts'
import { type Call, findNamed, jsonBody, notFound, type RestAnswer, type Route, redirectTo, refuse } from './call.ts'

export const APP_ROUTES: readonly Route[] = [
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
