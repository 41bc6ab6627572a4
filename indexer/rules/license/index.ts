/**
 * Licenses of a repository: resolves the declarations of every folder to a license, and whether it permits serving.
 *
 * Pure: the caller passes the tree, the texts that it has read, and the declared words.
 */
export { isServedInFull, kindOfExpression, type LicenseSettings } from './kind.ts'
export { readLicenseWords } from './license-words.ts'
export { isLicenseFileName, LICENSE_TEXT_BYTES } from './names.ts'
export { recognizeLicenseText } from './recognize.ts'
export { createLicenseResolver, type LicenseResolver } from './resolve.ts'
export { readLicenseSection } from './section.ts'
export type { DeclaredLicense, LicenseFile, LicenseSources, ResolvedLicense } from './sources.ts'
