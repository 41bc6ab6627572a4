import { z } from 'zod'
import { type Address, HOST_NAMES, parseAddress } from '#core/address.ts'
import { LegalDocument } from '#core/contract/legal.ts'
import { ShowcaseEntry } from '#core/contract/showcase.ts'
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
type ReadMedium = (range: ByteRange) => AsyncIterable<Uint8Array>

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

/** The operator's content as one value: what a folder says, and what is published. */
export const StoredContent = z.object({
  version: z.literal(1),
  featured: z.array(
    z.object({
      address: z.string(),
      /** Name of a medium. */
      image: z.string().nullable(),
      verified: z.boolean(),
    }),
  ),
  showcase: z.array(ShowcaseEntry),
  legal: z.array(LegalDocument),
  media: z.array(z.object({ name: z.string().regex(/^[0-9a-f]{64}\.[a-z0-9]+$/), type: z.string(), sizeBytes: z.int().min(1) })),
})
export type StoredContent = z.infer<typeof StoredContent>

/** @param baseUrl public origin, without a slash at its end */
export function contentOf(stored: StoredContent, baseUrl: string, read: (name: string) => ReadMedium): OperatorContent {
  return {
    featured: stored.featured.map(({ address, image, verified }) => ({
      address: parseAddress(address, Object.keys(HOST_NAMES)),
      image: image === null ? null : `${baseUrl}/media/${image}`,
      verified,
    })),
    showcase: stored.showcase,
    legal: stored.legal,
    media: new Map(stored.media.map(({ name, type, sizeBytes }) => [name, { type, sizeBytes, read: read(name) }])),
  }
}
