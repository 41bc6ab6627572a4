import { SIGNS } from './changes.ts'

const ALL = { ...SIGNS, unchanged: '=' } as const

/** The sign of a change, also of what did not change. */
export function changeSign(change: keyof typeof ALL): string {
  return ALL[change]
}
