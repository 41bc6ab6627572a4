/** What the declared words say. `file`: read that file, given as written, relative to the declaring folder. */
export type LicenseWords =
  | { kind: 'expression'; expression: string }
  | { kind: 'file'; file: string }
  | { kind: 'restricted' }
  | { kind: 'unknown' }

export declare function readLicenseWords(value: string): LicenseWords
