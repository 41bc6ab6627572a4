import { nextKey, parseSealingKeys, type SealingKeys } from '#api/purpose-keys.ts'
import { SettingsError } from '#core/settings.ts'
import { type InfraSettings, parseInfraSettings } from '#infra/infra-settings.ts'
import { changeSecret } from '#infra/stores.ts'
import { systemRandom } from '#infra/system/system.ts'
import { messageIn, SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { parseKeySettings } from './service-settings.ts'
import { type Line, printLines } from './terminal.ts'

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
    printLines(keys === null ? await changeStored(settings, retire) : describeValues(keys, retire))
    return EXIT_OK
  } catch (error) {
    process.stderr.write(`mountglass: ${messageIn(error)}\n`)
    return error instanceof SettingsError ? EXIT_USAGE : EXIT_FAILED
  }
}

/** @returns what is printed, without the keys */
async function changeStored({ store }: Pick<InfraSettings, 'store'>, retire: string | undefined): Promise<Line[]> {
  if (store.kind === 's3') throw new SettingsError('MOUNTGLASS_KEYS', t('problem.asTheService'))
  if (store.kind === 'memory') throw new SettingsError('MOUNTGLASS_STORE', t('problem.memoryKeepsNoKeys'))
  let said: Line[] = []
  const isChanged = await changeSecret(store.folder, 'keys', text => {
    const keys = parseSealingKeys(text)
    if (keys === null) throw new SettingsError('MOUNTGLASS_KEYS', t('problem.keysUnchanged'))
    if (retire !== undefined) {
      said = [t('keys.removed', { kid: retire }), t('keys.restart')]
      return JSON.stringify(without(keys, retire))
    }
    const key = plusOne(keys)
    said = [t('keys.added', { kid: key.kid }), t('keys.restart'), retireLater(keys)]
    return JSON.stringify([key, ...keys])
  })
  if (!isChanged) throw new SentenceError(t('problem.noKeys', { folder: store.folder }))
  return said
}

/** @returns what is printed: values of `MOUNTGLASS_KEYS`, each on a line of its own */
function describeValues(keys: SealingKeys, retire: string | undefined): Line[] {
  if (retire !== undefined) {
    return [t('keys.setWithout'), formatSetting(without(keys, retire))]
  }
  const [first, ...rest] = keys as [SealingKeys[number], ...SealingKeys]
  const key = plusOne(keys)
  const { kid } = key
  const last = retireLater(keys)
  return [
    t('keys.steps'),
    t('keys.first', { kid }),
    formatSetting([first, key, ...rest]),
    t('keys.second', { kid }),
    formatSetting([key, first, ...rest]),
    { ...last, said: t('keys.third', { retireLater: last.said }) },
  ]
}

function formatSetting(keys: SealingKeys): Line {
  return { said: '', command: `MOUNTGLASS_KEYS=${JSON.stringify(keys)}` }
}

/** A sign-in that nothing refreshed for a month is asked for anew in any case. */
function retireLater(keys: SealingKeys) {
  return { said: t('keys.retireLater'), command: `mountglass keys rotate --retire ${keys[0]?.kid}` }
}

/** @throws SentenceError */
function plusOne(keys: SealingKeys): SealingKeys[number] {
  if (keys.length < MOST_KEYS) return nextKey(keys, systemRandom.bytes(32))
  throw new SentenceError(t('problem.tooManyKeys', { n: keys.length, kid: keys.at(-1)?.kid ?? '' }))
}

/** @throws SentenceError */
function without(keys: SealingKeys, kid: string): SealingKeys {
  const names = keys.map(key => key.kid)
  if (!names.includes(kid)) throw new SentenceError(t('problem.unknownKey', { kid, kids: names.join(', ') }))
  if (names[0] === kid) throw new SentenceError(t('problem.keySeals', { kid }))
  return keys.filter(key => key.kid !== kid)
}
