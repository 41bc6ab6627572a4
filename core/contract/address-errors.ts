import type { ErrorCode } from '../errors.ts'

/** Codes of endpoints that take an address, and need its repository alone. */
export const REPOSITORY_ERRORS = [
  'address.invalid_escape',
  'address.unknown_host',
  'address.incomplete',
  'address.invalid_owner',
  'address.invalid_repository',
  'address.invalid_ref',
  'address.invalid_path',
  'address.too_long',
  'mount.repo_not_found',
  'mount.not_allowed',
  'mount.rate_limited',
  'mount.unavailable',
  'auth.required',
  'auth.unavailable',
] as const satisfies readonly ErrorCode[]

/** Codes of endpoints that take an address, and read its index. */
export const ADDRESS_ERRORS = [
  ...REPOSITORY_ERRORS,
  'mount.ref_not_found',
  'mount.path_not_found',
  'skill.unavailable',
] as const satisfies readonly ErrorCode[]

/** Of a request for the text of a file, beside those of its address. */
export const FILE_ERRORS = [
  'index.indexing',
  'index.failed',
  'file.not_found',
  'file.not_served',
  'file.too_large',
  'file.not_text',
] as const satisfies readonly ErrorCode[]
