import type { License } from '#core/contract/shared.ts'

/** What the operator decided. Ids are SPDX ids; `deny` wins over `allow`. */
export interface LicenseSettings {
  allow?: readonly string[]
  deny?: readonly string[]
  /** Whether public repositories without any licence are described or served; default: described. */
  unlicensed?: 'describe' | 'serve'
}

/** Whether an SPDX expression permits full serving. `null`: it is no SPDX expression. */
export declare function kindOfExpression(expression: string, settings?: LicenseSettings): 'open' | 'restricted' | null

/** Whether files under this licence are served, not only described. Readers of a private repository have it already. */
export declare function isServedInFull(license: License, visibility: 'public' | 'private', settings?: LicenseSettings): boolean
