import { ERROR_STATUS, type ErrorCode, ServiceError } from '../errors.ts'
import { FAULTS } from './faults-en.ts'
import { fill } from './fill.ts'
import { readBack } from './read-back.ts'
import type { Speech } from './speech.ts'

type FaultKey = keyof typeof FAULTS

/** What is wrong with a file of an operator, in English. */
export function faultOf(key: FaultKey, values: Readonly<Record<string, string | number>> = {}): string {
  return fill(FAULTS[key], values)
}

/**
 * A fault in the language of a command. Its values are read back from the English text, as those of findings are.
 *
 * @param fault may begin with the name of a field, and that of a file
 */
export function faultIn(fault: string, { language, words }: Speech): string {
  if (language === 'en') return fault
  const [field = ''] = /^[\w-]+: /.exec(fault) ?? []
  const said = fault.slice(field.length)
  const code = CODES.get(said)
  if (code !== undefined) return field + (words.errors[code] ?? said)
  for (const file of ['', '{file} ']) {
    for (const key of KEYS) {
      const values = readBack(file + FAULTS[key], said)
      if (values !== null) return field + fill(file + words.faults[key], values)
    }
  }
  return fault
}

const KEYS = Object.keys(FAULTS) as FaultKey[]
/** Addresses are refused as by the interface. */
const CODES = new Map((Object.keys(ERROR_STATUS) as ErrorCode[]).map(code => [new ServiceError(code).message, code]))
