/**
 * The variables that a job process receives, with the reason for each. Everything else of the service's environment stays out: a job parses
 * untrusted text, and a secret that a later version adds is withheld without a change here. Names are compared in upper case, since Windows
 * and proxies write them in either.
 */
const RECEIVED: readonly {
  names: readonly string[]
  prefixes?: readonly string[]
  isNeeded?: (env: NodeJS.ProcessEnv) => boolean
}[] = [
  // To find git and the libraries of programs.
  { names: ['PATH', 'PATHEXT', 'SYSTEMROOT', 'LD_LIBRARY_PATH'] },
  // Temporary files, and profiles in the home folder: credentials of AWS, passwords of PostgreSQL.
  { names: ['TMPDIR', 'TEMP', 'TMP', 'HOME', 'USERPROFILE'] },
  // Times and messages as the service writes them.
  { names: ['TZ', 'LANG', 'LANGUAGE', 'LC_ALL', 'LC_MESSAGES'] },
  // Starting as fast as the service does: its cache of compiled sources.
  { names: ['NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE'] },
  // Certificates, proxies and memory of Node. Without them, the git host or the store may be out of reach.
  {
    names: [
      'NODE_OPTIONS',
      'NODE_ENV',
      'NODE_EXTRA_CA_CERTS',
      'NODE_TLS_REJECT_UNAUTHORIZED',
      'NODE_USE_ENV_PROXY',
      'NODE_USE_SYSTEM_CA',
      'SSL_CERT_FILE',
      'SSL_CERT_DIR',
      'HTTP_PROXY',
      'HTTPS_PROXY',
      'ALL_PROXY',
      'NO_PROXY',
      'UV_THREADPOOL_SIZE',
      'MALLOC_ARENA_MAX',
    ],
  },
  // What `parseInfraSettings` reads, without the secret of webhooks. The token reads public repositories.
  {
    names: [
      'HOST',
      'PORT',
      'MOUNTGLASS_BASE_URL',
      'MOUNTGLASS_STORE',
      'MOUNTGLASS_PRIVATE_STORE',
      'MOUNTGLASS_DATABASE',
      'MOUNTGLASS_LEASE_SECONDS',
      'MOUNTGLASS_LOCAL_REPOSITORIES',
      'MOUNTGLASS_GITHUB',
      'MOUNTGLASS_GITHUB_URL',
      'MOUNTGLASS_GITHUB_API_URL',
      'MOUNTGLASS_AVATAR_ORIGINS',
      'MOUNTGLASS_GITHUB_TOKEN',
    ],
  },
  // The job writes to the bucket itself. The SDK has many sources of credentials: keys, profiles, roles of machines and containers.
  { names: [], prefixes: ['AWS_', 'MOUNTGLASS_PRIVATE_AWS_'], isNeeded: env => /^s3:/.test(env.MOUNTGLASS_STORE ?? '') },
  // The job reads and writes state entries itself. The driver takes what the URL omits from these: password, certificates.
  { names: [], prefixes: ['PG'], isNeeded: env => Boolean(env.MOUNTGLASS_DATABASE) },
]

/** The part of the service's environment that a job process receives. */
export function jobEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const needed = RECEIVED.filter(({ isNeeded }) => isNeeded?.(env) ?? true)
  const isReceived = (name: string) =>
    needed.some(({ names, prefixes = [] }) => names.includes(name) || prefixes.some(prefix => name.startsWith(prefix)))
  return Object.fromEntries(Object.entries(env).filter(([name]) => isReceived(name.toUpperCase())))
}
