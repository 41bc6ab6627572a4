import type { Address } from '#core/address.ts'
import type { LegalDocument } from '#core/contract/legal.ts'
import type { ShowcaseEntry } from '#core/contract/showcase.ts'
import type { ByteRange } from '#core/ports/raw-file.ts'
import { isInside } from '#core/repo-path.ts'
import { isSameRepository, type RepositoryName } from './repository-rule.ts'

/** The operator's content: what the front page features and shows, legal pages, and media. */
export interface OperatorContent {
  /** In the operator's order. */
  featured: readonly FeaturedAddress[]
  /** In order of their positions. */
  showcase: readonly ShowcaseEntry[]
  legal: readonly LegalDocument[]
  /** Media by their file name below `/media/`. */
  media: ReadonlyMap<string, Medium>
}

export interface FeaturedAddress {
  address: Address
  /** URL of the operator's picture. */
  image: string | null
  verified: boolean
}

export interface Medium {
  /** Media type. */
  type: string
  sizeBytes: number
  read: ReadMedium
}

/** Reads a part of a medium. @throws ServiceError when the store does not answer */
export type ReadMedium = (range: ByteRange) => AsyncIterable<Uint8Array>

/** The bundled handbook, which a deployment without repositories of its own serves. */
export const REFERENCE_REPOSITORY = '/local/mountglass/handbook'

export const NO_CONTENT: OperatorContent = { featured: [], showcase: [], legal: [], media: new Map() }

/** Whether the operator marked any featured address of the repository as verified. */
export function isVerified({ featured }: OperatorContent, repository: RepositoryName): boolean {
  return featured.some(one => one.verified && isSameRepository(one.address, repository))
}

/** The operator's picture for an address: that of the nearest featured folder at or above it, same ref first; `null` without one. */
export function pictureOf({ featured }: OperatorContent, address: Address): string | null {
  const above = featured.filter(
    one =>
      one.image !== null &&
      isSameRepository(one.address, address) &&
      (one.address.ref === null || one.address.ref === address.ref) &&
      isInside(one.address.path, address.path),
  )
  above.sort(({ address: left }, { address: right }) => {
    return right.path.length - left.path.length || Number(right.ref !== null) - Number(left.ref !== null)
  })
  return above[0]?.image ?? null
}

/** The medium of `pictureOf`, with its name. */
export function operatorPictureOf(content: OperatorContent, address: Address): (Medium & { name: string }) | null {
  const name = pictureOf(content, address)?.replace(/^.*\//, '')
  const medium = name === undefined ? undefined : content.media.get(name)
  return name === undefined || medium === undefined ? null : { ...medium, name }
}
