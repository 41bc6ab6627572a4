import { SettingsError } from '#core/settings.ts'
import { type InfraSettings, parseInfraSettings } from '#infra/infra-settings.ts'
import { changeSecret } from '#infra/stores.ts'
import { systemRandom } from '#infra/system/random.ts'
import { nextKey, parseSealingKeys, type SealingKeys } from './purpose-keys.ts'
import { parseKeySettings } from './service-settings.ts'

export interface RotateOptions {
  /** Overrides `MOUNTGLASS_STORE`. */
  store?: string
  /** Name of the key to remove. Without it, a key is added. */
  retire?: string
}

const EXIT_OK = 0
const EXIT_FAILED = 1
/** A setting is wrong. */
const EXIT_USAGE = 2

/** Whoever needs more forgot to remove old ones, and each key is one more that may leak. */
const MOST_KEYS = 8

/**
 * `mountglass keys rotate`: one more sealing key, or one less. The keys of a disk store are replaced. Those of `MOUNTGLASS_KEYS` lie where this
 * command cannot write, so it prints the values to set, and in which order. Exit code 0, 1 or 2.
 */
export async function rotateKeys({ store, retire }: RotateOptions, env: NodeJS.ProcessEnv): Promise<number> {
  try {
    const settings = parseInfraSettings(store === undefined ? env : { ...env, MOUNTGLASS_STORE: store })
    const { keys } = parseKeySettings(env)
    process.stdout.write(keys === null ? await changeStored(settings, retire) : describeValues(keys, retire))
    return EXIT_OK
  } catch (error) {
    process.stderr.write(`mountglass: ${(error as Error).message}\n`)
    return error instanceof SettingsError ? EXIT_USAGE : EXIT_FAILED
  }
}

/** @returns what is printed, without the keys */
async function changeStored({ store }: Pick<InfraSettings, 'store'>, retire: string | undefined): Promise<string> {
  if (store.kind === 's3') throw new SettingsError('MOUNTGLASS_KEYS', 'must be set, to the value that the service has')
  if (store.kind === 'memory') throw new SettingsError('MOUNTGLASS_STORE', 'memory: keeps no keys; name the store of the service')
  let said = ''
  const isChanged = await changeSecret(store.folder, 'keys', text => {
    const keys = parseSealingKeys(text)
    if (keys === null) throw new SettingsError('MOUNTGLASS_KEYS', 'the stored sealing keys are damaged; nothing was changed')
    const [changed, sentence] = retire === undefined ? added(keys) : [without(keys, retire), `Key ${retire} is removed.`]
    said = `${sentence}\nRestart all processes of the service, at the same time: they read the keys when they start.\n`
    if (retire === undefined) said += `In ${retireLater(keys)}\n`
    return JSON.stringify(changed)
  })
  if (!isChanged) throw new Error(`there are no keys in ${store.folder}; the service makes them at its first start`)
  return said
}

function added(keys: SealingKeys): [changed: SealingKeys, sentence: string] {
  const key = plusOne(keys)
  return [[key, ...keys], `Key ${key.kid} is added, and seals. Older keys still open.`]
}

/** @returns what is printed: values of `MOUNTGLASS_KEYS`, each on a line of its own */
function describeValues(keys: SealingKeys, retire: string | undefined): string {
  if (retire !== undefined) {
    const removed = formatSetting(without(keys, retire))
    return `Set this for all processes of the service, and restart them one after another:\n${removed}\n`
  }
  const [first, ...rest] = keys as [SealingKeys[number], ...SealingKeys]
  const key = plusOne(keys)
  return `Nothing is changed. Processes that run side by side need three steps, since each must open what the others seal.
1. Key ${key.kid} opens. Set this for all processes of the service, and restart them one after another:
${formatSetting([first, key, ...rest])}
2. When all of them run with it, key ${key.kid} seals. Set this, and restart them again:
${formatSetting([key, first, ...rest])}
3. In ${retireLater(keys)}
`
}

function formatSetting(keys: SealingKeys): string {
  return `MOUNTGLASS_KEYS=${JSON.stringify(keys)}`
}

/** A sign-in that nothing refreshed for a month is asked for anew in any case. */
function retireLater(keys: SealingKeys): string {
  return `30 days, remove the old key: mountglass keys rotate --retire ${keys[0]?.kid}`
}

/** @throws Error in one line */
function plusOne(keys: SealingKeys): SealingKeys[number] {
  if (keys.length < MOST_KEYS) return nextKey(keys, systemRandom.bytes(32))
  throw new Error(`there are ${keys.length} keys: remove an old one first, with --retire ${keys.at(-1)?.kid}`)
}

/** @throws Error in one line */
function without(keys: SealingKeys, kid: string): SealingKeys {
  const names = keys.map(key => key.kid)
  if (!names.includes(kid)) throw new Error(`there is no key ${kid}; there are ${names.join(', ')}`)
  if (names[0] === kid) throw new Error(`key ${kid} seals: add a new one first, with mountglass keys rotate`)
  return keys.filter(key => key.kid !== kid)
}
