/** The largest allocation of a git process: a small object may be stored as a delta of one that exceeds memory. */
const ALLOCATION_LIMIT = '256m'

const SETTINGS: Readonly<Record<string, string>> = {
  // Another user than that of this process may own the repositories.
  'safe.directory': '*',
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.askPass': '/bin/false',
  'credential.helper': '',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'submodule.recurse': 'false',
  // Every thread that resolves deltas holds two whole files.
  'pack.threads': '1',
  // Git streams larger blobs that are not deltas, so they do not count against the allocation limit.
  'core.bigFileThreshold': '16m',
}

/**
 * The environment of a git process: no configuration of the machine or the user, no prompts, no helpers, no network.
 * Inherits only `PATH`.
 */
export function gitEnvironment(): Record<string, string> {
  const settings = Object.entries(SETTINGS)
  const scoped = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    LC_ALL: 'C',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_SSH_COMMAND: '/bin/false',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_ALLOC_LIMIT: ALLOCATION_LIMIT,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(scoped),
  }
}
