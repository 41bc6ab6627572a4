import { posix, win32 } from 'node:path'

/** Where the files of a kind belong, by operating system: below the home folder, on Windows below the local application data. */
const PLACES = {
  data: {
    variable: 'XDG_DATA_HOME',
    unix: ['.local', 'share', 'mountglass'],
    mac: ['Library', 'Application Support', 'mountglass'],
    // Not in the roaming profile, which Windows copies at each sign-in, and not in the cache, which users may remove.
    windows: ['mountglass-data'],
  },
  cache: {
    variable: 'XDG_CACHE_HOME',
    unix: ['.cache', 'mountglass'],
    mac: ['Library', 'Caches', 'mountglass'],
    windows: ['mountglass'],
  },
} as const

/**
 * What the user keeps: the store of a service.
 *
 * @returns an absolute path; `null` where the environment names no home folder
 */
export function dataFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string | null {
  return userFolder('data', env, platform)
}

/**
 * What can be fetched and indexed again.
 *
 * @returns an absolute path; `null` where the environment names no home folder
 */
export function cacheFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string | null {
  return userFolder('cache', env, platform)
}

function userFolder(kind: keyof typeof PLACES, env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | null {
  const { variable, unix, mac, windows } = PLACES[kind]
  if (platform === 'win32') {
    const base = absolute(env.LOCALAPPDATA, win32) ?? below(absolute(env.USERPROFILE, win32), ['AppData', 'Local'], win32)
    return below(base, windows, win32)
  }
  // The specification tells programs to ignore a relative path.
  const named = absolute(env[variable], posix)
  if (named !== null) return posix.join(named, 'mountglass')
  return below(absolute(env.HOME, posix), platform === 'darwin' ? mac : unix, posix)
}

type Paths = Pick<typeof posix, 'isAbsolute' | 'join'>

function absolute(path: string | undefined, { isAbsolute }: Paths): string | null {
  return path !== undefined && isAbsolute(path) ? path : null
}

function below(base: string | null, names: readonly string[], { join }: Paths): string | null {
  return base === null ? null : join(base, ...names)
}
