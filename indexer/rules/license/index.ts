/**
 * Licenses of a repository: what is declared where, what it permits, and what stands in the way.
 *
 * Pure: the caller hands in the tree, the texts that it has read, and the declared words.
 */
export { isServedInFull, kindOfExpression, type LicenseSettings } from './kind.ts'
export { readLicenseWords } from './license-words.ts'
export { isLicenseFileName, LICENSE_TEXT_BYTES } from './names.ts'
export { recognizeLicenseText } from './recognize.ts'
export { createLicenseResolver, type LicenseResolver } from './resolve.ts'
export { readLicenseSection } from './section.ts'
export type { LicenseFile, LicensePlace, LicenseSources, ResolvedLicense } from './sources.ts'
