/** No allocation of a git process is larger, so a small object that is stored as a change of a huge one cannot fill the memory. */
const ALLOCATION_LIMIT = '256m'

const SETTINGS: Readonly<Record<string, string>> = {
  // Repositories belong to whoever put them there, not to the user of this process.
  'safe.directory': '*',
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.askPass': '/bin/false',
  'credential.helper': '',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'submodule.recurse': 'false',
  // Every thread that unpacks changes holds two files whole.
  'pack.threads': '1',
  // What is larger and no change is never held, so it meets no limit of what may be.
  'core.bigFileThreshold': '16m',
}

/**
 * The environment of a git process, built from nothing: no configuration of the machine or the user, no prompts, no helpers,
 * no network. Only `PATH` comes from outside.
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
