import { nextKey, parseSealingKeys, type SealingKeys } from '#api/purpose-keys.ts'
import { SettingsError } from '#core/settings.ts'
import { type InfraSettings, parseInfraSettings } from '#infra/infra-settings.ts'
import { changeSecret } from '#infra/stores.ts'
import { systemRandom } from '#infra/system/random.ts'
import { WORDS } from '#words/en/commands.ts'
import { fill } from '#words/fill.ts'
import { messageIn, SentenceError, sentence } from '#words/sentence.ts'
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
    process.stderr.write(`mountglass: ${messageIn(error)}\n`)
    return error instanceof SettingsError ? EXIT_USAGE : EXIT_FAILED
  }
}

/** @returns what is printed, without the keys */
async function changeStored({ store }: Pick<InfraSettings, 'store'>, retire: string | undefined): Promise<string> {
  const say = WORDS.keys
  if (store.kind === 's3') throw new SettingsError('MOUNTGLASS_KEYS', sentence('asTheService'))
  if (store.kind === 'memory') throw new SettingsError('MOUNTGLASS_STORE', sentence('memoryKeepsNoKeys'))
  let said = ''
  const isChanged = await changeSecret(store.folder, 'keys', text => {
    const keys = parseSealingKeys(text)
    if (keys === null) throw new SettingsError('MOUNTGLASS_KEYS', sentence('keysUnchanged'))
    if (retire !== undefined) {
      said = linesOf(fill(say.removed, { kid: retire }), say.restart)
      return JSON.stringify(without(keys, retire))
    }
    const key = plusOne(keys)
    said = linesOf(fill(say.added, { kid: key.kid }), say.restart, retireLater(keys))
    return JSON.stringify([key, ...keys])
  })
  if (!isChanged) throw new SentenceError(sentence('noKeys', { folder: store.folder }))
  return said
}

function linesOf(...lines: readonly string[]): string {
  return lines.map(line => `${line}\n`).join('')
}

/** @returns what is printed: values of `MOUNTGLASS_KEYS`, each on a line of its own */
function describeValues(keys: SealingKeys, retire: string | undefined): string {
  const say = WORDS.keys
  if (retire !== undefined) {
    return linesOf(say.setWithout, formatSetting(without(keys, retire)))
  }
  const [first, ...rest] = keys as [SealingKeys[number], ...SealingKeys]
  const key = plusOne(keys)
  const { kid } = key
  return linesOf(
    say.steps,
    fill(say.first, { kid }),
    formatSetting([first, key, ...rest]),
    fill(say.second, { kid }),
    formatSetting([key, first, ...rest]),
    fill(say.third, { retireLater: retireLater(keys) }),
  )
}

function formatSetting(keys: SealingKeys): string {
  return `MOUNTGLASS_KEYS=${JSON.stringify(keys)}`
}

/** A sign-in that nothing refreshed for a month is asked for anew in any case. */
function retireLater(keys: SealingKeys): string {
  return fill(WORDS.keys.retireLater, { command: `mountglass keys rotate --retire ${keys[0]?.kid}` })
}

/** @throws SentenceError */
function plusOne(keys: SealingKeys): SealingKeys[number] {
  if (keys.length < MOST_KEYS) return nextKey(keys, systemRandom.bytes(32))
  throw new SentenceError(sentence('tooManyKeys', { n: keys.length, kid: keys.at(-1)?.kid ?? '' }))
}

/** @throws SentenceError */
function without(keys: SealingKeys, kid: string): SealingKeys {
  const names = keys.map(key => key.kid)
  if (!names.includes(kid)) throw new SentenceError(sentence('unknownKey', { kid, kids: names.join(', ') }))
  if (names[0] === kid) throw new SentenceError(sentence('keySeals', { kid }))
  return keys.filter(key => key.kid !== kid)
}
