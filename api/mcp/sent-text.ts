import type { SkillPage } from '#core/contract/skill.ts'
import { skillText } from './answer-text.ts'

/** The call of `load_skill` whose answer is a page of a skill. */
export interface SkillCall {
  /** Canonical address. */
  address: string
  path: string
  cursor: string | undefined
}

/** The text that `load_skill` of the server of an address sends for a page of a skill that is served in full. */
export type SkillTextOf = (page: SkillPage, call: SkillCall) => string

/** @param maxBytes bound of the text of a result */
export function skillTextOf(maxBytes: number): SkillTextOf {
  return (page, { address, path, cursor }) =>
    skillText(page, {
      address,
      tool: 'load_skill',
      arguments: { path, ...(cursor === undefined ? {} : { cursor }) },
      isWorkingFolder: false,
      isSourceServed: true,
      maxBytes,
    })
}
