import { createPrivateKey } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { LEASE_SECONDS } from '#core/limits.ts'
import { homePath, LISTEN_VARIABLES, namesOf, numberVariable, originAt, parseEnvironment, SettingsError } from '#core/settings.ts'
import { withoutTrailing } from '#core/text.ts'
import { t } from '#words/t.ts'
import type { GitHubApp } from './github/app-tokens.ts'
import { dataFolder } from './system/user-folders.ts'

const APP_VARIABLES = {
  MOUNTGLASS_GITHUB_APP_ID: z
    .string()
    .refine(text => /^\d{1,15}$/.test(text), t('problem.appId'))
    .optional(),
  MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: z.string().optional(),
  MOUNTGLASS_GITHUB_APP_CLIENT_ID: z
    .string()
    .refine(text => /^[\w.-]{1,100}$/.test(text), t('problem.appClientId'))
    .optional(),
  MOUNTGLASS_GITHUB_APP_CLIENT_SECRET: z
    .string()
    .refine(text => /^[\x21-\x7e]{1,400}$/.test(text), t('problem.appClientSecret'))
    .optional(),
  MOUNTGLASS_GITHUB_APP_SLUG: z
    .string()
    .refine(text => /^[a-z\d](?:[a-z\d-]{0,98}[a-z\d])?$/i.test(text), t('problem.appSlug'))
    .optional(),
}

type AppVariables = z.infer<z.ZodObject<typeof APP_VARIABLES>>

/** @returns `null` without an App: sign-in is not set up @throws SettingsError when only a part of it is set, or the key cannot be read */
function appSettings(variables: AppVariables, env: NodeJS.ProcessEnv): GitHubApp | null {
  const needed = {
    id: variables.MOUNTGLASS_GITHUB_APP_ID,
    privateKey: variables.MOUNTGLASS_GITHUB_APP_PRIVATE_KEY,
    clientId: variables.MOUNTGLASS_GITHUB_APP_CLIENT_ID,
    clientSecret: variables.MOUNTGLASS_GITHUB_APP_CLIENT_SECRET,
  }
  const { id, privateKey, clientId, clientSecret } = needed
  if (Object.values(needed).every(value => value === undefined)) return null
  if (id === undefined) throw missing('MOUNTGLASS_GITHUB_APP_ID')
  if (privateKey === undefined) throw missing('MOUNTGLASS_GITHUB_APP_PRIVATE_KEY')
  if (clientId === undefined) throw missing('MOUNTGLASS_GITHUB_APP_CLIENT_ID')
  if (clientSecret === undefined) throw missing('MOUNTGLASS_GITHUB_APP_CLIENT_SECRET')
  const slug = variables.MOUNTGLASS_GITHUB_APP_SLUG ?? null
  return { id, clientId, clientSecret, privateKey: readPrivateKey(privateKey, env), slug }
}

const KEY_SETTING = 'MOUNTGLASS_GITHUB_APP_PRIVATE_KEY'

function missing(variable: string): SettingsError {
  return new SettingsError(variable, t('problem.appIncomplete'))
}

/** @param text a PEM with real or escaped line breaks, or `file:<path>`. No message quotes it */
function readPrivateKey(text: string, env: NodeJS.ProcessEnv): string {
  const path = text.startsWith('file:') ? homePath(KEY_SETTING, text.slice('file:'.length), env) : null
  const key = parseKey(path === null ? text.replaceAll('\\n', '\n') : readKeyFile(path))
  if (key === null) throw new SettingsError(KEY_SETTING, t('problem.appKey'))
  return key
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? (cause as Error).message
    throw new SettingsError(KEY_SETTING, t('problem.appKeyFile', { path, reason }), { cause })
  }
}

/** PKCS#8 PEM of a PKCS#1 or PKCS#8 PEM; `null` when the text is no RSA key. */
function parseKey(pem: string): string | null {
  try {
    const key = createPrivateKey(pem)
    return key.asymmetricKeyType === 'rsa' ? String(key.export({ type: 'pkcs8', format: 'pem' })) : null
  } catch {
    return null
  }
}

/** Location of blobs and of state entries. */
export type StoreSetting = { kind: 'disk'; folder: string } | { kind: 'memory' } | S3Setting

/** A bucket, or a prefix of it. */
export interface S3Setting extends BucketName {
  /** Without a trailing slash; `null`: AWS. */
  endpoint: string | null
  /** `null`: the default of the SDK. */
  region: string | null
  /** `null`: the default of the SDK. */
  credentials: S3Credentials | null
}

export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
  /** For temporary credentials. */
  sessionToken?: string
}

interface BucketName {
  kind: 's3'
  bucket: string
  /** Without leading or trailing slash; empty: the whole bucket. */
  prefix: string
}

/** A bucket key has at most 1,024 bytes, and the store needs all but these for its own keys. */
const PREFIX_BYTES = 127

/** `s3:<bucket>[/<prefix>]`; `null` for any other text. */
function parseBucketName(text: string): BucketName | null {
  const [, bucket, prefix = ''] = /^s3:([A-Za-z0-9][A-Za-z0-9._-]{2,62})(?:\/([A-Za-z0-9._/-]*))?$/.exec(text) ?? []
  if (bucket === undefined) return null
  const segments = prefix.replace(/\/$/, '').split('/')
  const isKey = segments.every(segment => segment !== '' && segment !== '.' && segment !== '..')
  if (!(isKey || prefix === '') || prefix.length > PREFIX_BYTES) return null
  return { kind: 's3', bucket, prefix: segments.join('/') }
}

/** `disk:<folder>`, `s3:<bucket>[/<prefix>]` or `memory:`. */
const StoreName = z.string().transform((text, context): Exclude<StoreSetting, S3Setting> | BucketName => {
  if (text === 'memory:') return { kind: 'memory' }
  const folder = text.startsWith('disk:') ? text.slice('disk:'.length) : ''
  if (folder !== '') return { kind: 'disk', folder }
  const bucket = parseBucketName(text)
  if (bucket) return bucket
  context.addIssue({ code: 'custom', message: t('problem.store') })
  return z.NEVER
})

const PrivateStoreName = z.string().transform((text, context): BucketName => {
  const bucket = parseBucketName(text)
  if (bucket) return bucket
  context.addIssue({ code: 'custom', message: t('problem.privateStore') })
  return z.NEVER
})

const GITHUB = 'https://github.com'
const GITHUB_API = 'https://api.github.com'
const GITHUB_AVATARS = 'https://avatars.githubusercontent.com'

/** `http` or `https` with a host, without a path. */
const Origin = z.string().transform((text, context): string => {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin
  context.addIssue({ code: 'custom', message: t('problem.origin') })
  return z.NEVER
})

/** Origins, separated by commas or white space. */
const Origins = z.string().transform((text, context): string[] => {
  const origins = text
    .split(/[\s,]+/)
    .filter(one => one !== '')
    .map(one => Origin.safeParse(one))
  if (origins.every(({ success }) => success)) return origins.map(({ data }) => data ?? '')
  context.addIssue({ code: 'custom', message: t('problem.origins') })
  return z.NEVER
})

/** `http` or `https`, with or without a path. */
function baseUrl(example: string) {
  return z.string().transform((text, context): string => {
    const url = URL.parse(text)
    const isPlain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
    if (isPlain && /^https?:$/.test(url.protocol)) return withoutTrailing(url.href, /\//)
    context.addIssue({ code: 'custom', message: t('problem.url', { example }) })
    return z.NEVER
  })
}

const Endpoint = baseUrl('https://s3.example.org')

/** A URL of PostgreSQL. It may hold a password, so no message quotes it. */
const DatabaseUrl = z.string().transform((text, context): string => {
  const url = URL.parse(text)
  if (url && /^postgres(ql)?:$/.test(url.protocol) && url.pathname.length > 1 && isDecodable(text)) return text
  context.addIssue({ code: 'custom', message: t('problem.databaseUrl') })
  return z.NEVER
})

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const Variables = z.object({
  ...LISTEN_VARIABLES,
  MOUNTGLASS_BASE_URL: Origin.optional(),
  MOUNTGLASS_STORE: StoreName.optional(),
  MOUNTGLASS_PRIVATE_STORE: PrivateStoreName.optional(),
  MOUNTGLASS_DATABASE: DatabaseUrl.optional(),
  MOUNTGLASS_LOCAL_REPOSITORIES: z.string().optional(),
  MOUNTGLASS_LEASE_SECONDS: numberVariable(2, 600).default(LEASE_SECONDS),
  MOUNTGLASS_GITHUB: z.enum(['on', 'off']).default('on'),
  MOUNTGLASS_GITHUB_URL: Origin.default(GITHUB),
  MOUNTGLASS_GITHUB_API_URL: baseUrl('https://github.example.org/api/v3').optional(),
  MOUNTGLASS_AVATAR_ORIGINS: Origins.default([]),
  MOUNTGLASS_GITHUB_TOKEN: z
    .string()
    .refine(text => /^[\x21-\x7e]{1,4096}$/.test(text), t('problem.githubToken'))
    .optional(),
  MOUNTGLASS_GITHUB_WEBHOOK_SECRET: z.string().optional(),
  ...APP_VARIABLES,
})

/** Read when the store is a bucket: variables of the SDK, and credentials for the bucket of private repositories. */
const S3Variables = z.object({
  AWS_ENDPOINT_URL_S3: Endpoint.optional(),
  AWS_ENDPOINT_URL: Endpoint.optional(),
  AWS_REGION: z.string().optional(),
  MOUNTGLASS_PRIVATE_AWS_ACCESS_KEY_ID: z.string().optional(),
  MOUNTGLASS_PRIVATE_AWS_SECRET_ACCESS_KEY: z.string().optional(),
})
export const INFRA_SETTINGS = [...namesOf(Variables), ...namesOf(S3Variables)]

/** Location of GitHub, and the credentials for it. */
export interface GitHubSettings {
  /** Origin, without a trailing slash. */
  url: string
  /** Without a trailing slash. */
  apiUrl: string
  /** Origins from which the pictures of accounts are fetched. */
  avatarOrigins: readonly string[]
  /** For public repositories. */
  token: string | null
  /** Key of the signatures of webhook deliveries; `null`: deliveries are not accepted. */
  webhookSecret: string | null
  /** `null`: sign-in is not set up, and private repositories are not read. */
  app: GitHubApp | null
}

/** Settings of `openInfra`. */
export interface InfraSettings {
  /** Public origin, without a trailing slash. */
  baseUrl: string
  store: StoreSetting
  /** Location of everything of private repositories, jobs included; `null`: `store`. */
  privateStore: S3Setting | null
  /** URL of the PostgreSQL database with the state entries and jobs of both stores; `null`: each store has its own. */
  database: string | null
  /** A dead worker's job is taken over after 1⅓ times this. */
  leaseSeconds: number
  /** Folder of local repositories; `null`: the bundled example. */
  localRepositories: string | null
  /** `null`: the deployment serves no repositories of GitHub. */
  github: GitHubSettings | null
}

/** @throws SettingsError */
export function parseInfraSettings(env: NodeJS.ProcessEnv): InfraSettings {
  const variables = parseEnvironment(Variables, env)
  const { HOST: host, PORT: port, MOUNTGLASS_BASE_URL, MOUNTGLASS_LOCAL_REPOSITORIES: local } = variables
  return {
    baseUrl: MOUNTGLASS_BASE_URL ?? originAt({ host, port }),
    ...storeSettings(variables, env),
    database: databaseSetting(variables),
    leaseSeconds: variables.MOUNTGLASS_LEASE_SECONDS,
    localRepositories: local === undefined ? null : homePath('MOUNTGLASS_LOCAL_REPOSITORIES', local, env),
    github: variables.MOUNTGLASS_GITHUB === 'on' ? githubSettings(variables, env) : null,
  }
}

/** A package holds bundles, in which this module stands for a source that is not there. */
const IS_CHECKOUT = existsSync(fileURLToPath(import.meta.url))

/**
 * The folder of the store that no setting names.
 *
 * @param isCheckout whether this process runs the sources. A package is used from any folder, so its store is the user's
 * @throws SettingsError when the environment names no home folder
 */
export function defaultStoreFolder(env: NodeJS.ProcessEnv, isCheckout = IS_CHECKOUT): string {
  const folder = isCheckout ? '.mountglass' : dataFolder(env)
  if (folder === null) throw new SettingsError('MOUNTGLASS_STORE', t('problem.noDataFolder'))
  return folder
}

function storeSettings(
  { MOUNTGLASS_STORE: named, MOUNTGLASS_PRIVATE_STORE: privateStore }: z.infer<typeof Variables>,
  env: NodeJS.ProcessEnv,
): Pick<InfraSettings, 'store' | 'privateStore'> {
  const store = named ?? { kind: 'disk' as const, folder: defaultStoreFolder(env) }
  if (store.kind !== 's3') {
    if (privateStore) throw new SettingsError('MOUNTGLASS_PRIVATE_STORE', t('problem.privateStoreAlone'))
    if (store.kind === 'memory') return { store, privateStore: null }
    return { store: { ...store, folder: homePath('MOUNTGLASS_STORE', store.folder, env) }, privateStore: null }
  }
  const variables = parseEnvironment(S3Variables, env)
  const shared = {
    endpoint: variables.AWS_ENDPOINT_URL_S3 ?? variables.AWS_ENDPOINT_URL ?? null,
    // Self-hosted servers rarely have regions, but the SDK requires one.
    region: variables.AWS_REGION ?? (variables.AWS_ENDPOINT_URL_S3 || variables.AWS_ENDPOINT_URL ? 'us-east-1' : null),
  }
  const publicSetting = { ...store, ...shared, credentials: null }
  if (!privateStore) return { store: publicSetting, privateStore: null }
  if (privateStore.bucket === store.bucket && (isBelow(privateStore, store) || isBelow(store, privateStore)))
    throw new SettingsError('MOUNTGLASS_PRIVATE_STORE', t('problem.storesOverlap'))
  const [accessKeyId, secretAccessKey] = [
    variables.MOUNTGLASS_PRIVATE_AWS_ACCESS_KEY_ID,
    variables.MOUNTGLASS_PRIVATE_AWS_SECRET_ACCESS_KEY,
  ]
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    throw new SettingsError(
      accessKeyId === undefined ? 'MOUNTGLASS_PRIVATE_AWS_ACCESS_KEY_ID' : 'MOUNTGLASS_PRIVATE_AWS_SECRET_ACCESS_KEY',
      t('problem.privateCredentials'),
    )
  const credentials = accessKeyId !== undefined && secretAccessKey !== undefined ? { accessKeyId, secretAccessKey } : null
  return { store: publicSetting, privateStore: { ...privateStore, ...shared, credentials } }
}

function databaseSetting({ MOUNTGLASS_DATABASE: database, MOUNTGLASS_STORE: store }: z.infer<typeof Variables>): string | null {
  if (database !== undefined && store?.kind === 'memory')
    throw new SettingsError('MOUNTGLASS_DATABASE', t('problem.databaseNotShared'))
  return database ?? null
}

function isBelow(inner: BucketName, outer: BucketName): boolean {
  return outer.prefix === '' || `${inner.prefix}/`.startsWith(`${outer.prefix}/`)
}

function githubSettings(variables: z.infer<typeof Variables>, env: NodeJS.ProcessEnv): GitHubSettings {
  const { MOUNTGLASS_GITHUB_URL: url, MOUNTGLASS_GITHUB_API_URL: apiUrl, MOUNTGLASS_GITHUB_TOKEN: token } = variables
  const webhookSecret = variables.MOUNTGLASS_GITHUB_WEBHOOK_SECRET ?? null
  // The API of an Enterprise Server has the origin of its pages.
  const api = apiUrl ?? (url === GITHUB ? GITHUB_API : `${url}/api/v3`)
  const own = [...new Set([url, new URL(api).origin, ...variables.MOUNTGLASS_AVATAR_ORIGINS])]
  const avatarOrigins = url === GITHUB ? [GITHUB_AVATARS] : own
  return { url, apiUrl: api, avatarOrigins, token: token ?? null, webhookSecret, app: appSettings(variables, env) }
}

/**
 * Settings of a process whose results other processes read.
 *
 * @throws SettingsError as `parseInfraSettings`, and for a store in memory
 */
export function parseSharedInfraSettings(env: NodeJS.ProcessEnv): InfraSettings {
  const settings = parseInfraSettings(env)
  if (settings.store.kind === 'memory') throw new SettingsError('MOUNTGLASS_STORE', t('problem.storeNotShared'))
  return settings
}
