import { z } from 'zod'
import { LISTEN_VARIABLES, parseEnvironment, SettingsError } from '#core/settings.ts'

/** Where blobs and documents lie. */
export type StoreSetting = { kind: 'disk'; folder: string } | { kind: 'memory' }

/** `disk:<folder>` or `memory:`. */
export const StoreSetting = z.string().transform((text, context): StoreSetting => {
  if (text === 'memory:') return { kind: 'memory' }
  const folder = text.startsWith('disk:') ? text.slice('disk:'.length) : ''
  if (folder !== '') return { kind: 'disk', folder }
  context.addIssue(text.startsWith('s3:') ? 'this build has no driver for s3: stores' : 'must be disk:<folder> or memory:')
  return z.NEVER
})

const GITHUB = 'https://github.com'
const GITHUB_API = 'https://api.github.com'

/** `http` or `https` with a host, nothing behind it. */
const Origin = z.string().transform((text, context): string => {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin
  context.addIssue('must be an origin like https://skills.example.org')
  return z.NEVER
})

/** `http` or `https`, with a path or without. */
const BaseUrl = z.string().transform((text, context): string => {
  const url = URL.parse(text)
  const isPlain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (isPlain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '')
  context.addIssue('must be an address like https://github.example.org/api/v3')
  return z.NEVER
})

const Variables = z.object({
  ...LISTEN_VARIABLES,
  MOUNTGLASS_BASE_URL: Origin.optional(),
  MOUNTGLASS_STORE: StoreSetting.default({ kind: 'disk', folder: '.mountglass' }),
  MOUNTGLASS_LOCAL_REPOSITORIES: z.string().optional(),
  MOUNTGLASS_GITHUB: z.enum(['on', 'off'], 'must be on or off').default('on'),
  MOUNTGLASS_GITHUB_URL: Origin.default(GITHUB),
  MOUNTGLASS_GITHUB_API_URL: BaseUrl.optional(),
  MOUNTGLASS_GITHUB_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{1,4096}$/, 'must be a token: printable characters without spaces')
    .optional(),
  MOUNTGLASS_GITHUB_WEBHOOK_SECRET: z.string().min(16, 'must have 16 characters or more').optional(),
})

/** Where GitHub is, and as whom it is asked. */
export interface GitHubSettings {
  /** Origin, without a slash at its end. */
  url: string
  /** Without a slash at its end. */
  apiUrl: string
  /** A credential for what everyone may see. */
  token: string | null
  /** By which messages of GitHub are known; `null`: none are taken. */
  webhookSecret: string | null
}

/** What `openInfra` opens. */
export interface InfraSettings {
  /** Public origin, without a slash at its end. */
  baseUrl: string
  store: StoreSetting
  /** Folder of local repositories; `null`: the bundled example. */
  localRepositories: string | null
  /** `null`: this deployment serves nothing of GitHub. */
  github: GitHubSettings | null
}

/** @throws SettingsError */
export function parseInfraSettings(env: NodeJS.ProcessEnv): InfraSettings {
  const variables = parseEnvironment(Variables, env)
  const { HOST, PORT, MOUNTGLASS_BASE_URL, MOUNTGLASS_STORE, MOUNTGLASS_LOCAL_REPOSITORIES } = variables
  return {
    baseUrl: MOUNTGLASS_BASE_URL ?? `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`,
    store: MOUNTGLASS_STORE,
    localRepositories: MOUNTGLASS_LOCAL_REPOSITORIES ?? null,
    github: variables.MOUNTGLASS_GITHUB === 'on' ? githubSettings(variables) : null,
  }
}

function githubSettings(variables: z.infer<typeof Variables>): GitHubSettings {
  const { MOUNTGLASS_GITHUB_URL: url, MOUNTGLASS_GITHUB_API_URL: apiUrl, MOUNTGLASS_GITHUB_TOKEN: token } = variables
  const webhookSecret = variables.MOUNTGLASS_GITHUB_WEBHOOK_SECRET ?? null
  // An Enterprise Server has its API below its own address.
  return { url, apiUrl: apiUrl ?? (url === GITHUB ? GITHUB_API : `${url}/api/v3`), token: token ?? null, webhookSecret }
}

/**
 * The same for a process whose work another one reads.
 *
 * @throws SettingsError also for a store that only its own process sees
 */
export function parseSharedInfraSettings(env: NodeJS.ProcessEnv): InfraSettings {
  const settings = parseInfraSettings(env)
  if (settings.store.kind === 'memory')
    throw new SettingsError('MOUNTGLASS_STORE', 'memory: is seen by one process alone; name a folder as disk:<folder>')
  return settings
}
