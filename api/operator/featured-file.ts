import { z } from 'zod'
import { type Address, HOST_NAMES, parseAddress } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import { FEATURED_ADDRESSES, FEATURED_FILE_BYTES, OPERATOR_PICTURE_BYTES } from '#core/limits.ts'
import { t } from '#words/t.ts'
import { type FolderFiles, NO_MEDIUM } from './folder-files.ts'
import { isSameRepository } from './repository-rule.ts'
import { FileFault, joinFaults, parseYamlFile, type YamlFile } from './yaml-file.ts'

export const FEATURED_FILE = 'featured.yaml'

/** A featured address as the operator's folder has it. */
export interface FeaturedEntry {
  address: Address
  /** Name of a medium; `null` without a picture. */
  image: string | null
  verified: boolean
}

const FeaturedFile = z
  .array(
    z.strictObject(
      {
        address: z.string(t('fault.addressForm')),
        image: z.string(t('fault.pictureName')).optional(),
        verified: z.boolean(t('fault.trueOrFalse')).default(false),
      },
      {
        error: issue =>
          issue.code === 'unrecognized_keys'
            ? t('fault.unknownField', { fields: 'address, image, verified' })
            : t('fault.needsAddress'),
      },
    ),
    t('fault.addressList'),
  )
  .max(FEATURED_ADDRESSES, t('fault.tooManyAddresses', { limit: FEATURED_ADDRESSES }))

/** @throws FileFault */
export async function readFeatured(files: FolderFiles): Promise<FeaturedEntry[]> {
  const text = await files.readText(FEATURED_FILE, FEATURED_FILE_BYTES)
  if (text === null) return []
  const { value: entries, fault } = parseYamlFile(text, FeaturedFile)
  const featured: FeaturedEntry[] = []
  const faults: FileFault[] = []
  for (const [index, entry] of entries.entries()) {
    try {
      const address = parseOperatorAddress(entry.address, [index, 'address'], fault)
      if (featured.some(one => isSameAddress(one.address, address)))
        faults.push(fault([index, 'address'], `address: ${t('fault.twice', { address: entry.address })}`))
      const image = entry.image === undefined ? null : await takePicture(files, entry.image, [index, 'image'], fault)
      featured.push({ address, image, verified: entry.verified })
    } catch (error) {
      if (!(error instanceof FileFault)) throw error
      faults.push(error)
    }
  }
  const found = joinFaults(faults)
  if (found) throw found
  return featured
}

async function takePicture(
  files: FolderFiles,
  name: string,
  path: PropertyKey[],
  fault: YamlFile<unknown>['fault'],
): Promise<string> {
  const medium = await files.takeMedium(name, OPERATOR_PICTURE_BYTES)
  const problem = 'problem' in medium ? medium.problem : medium.type.startsWith('image/') ? null : t('fault.notPicture')
  if (problem !== null) {
    const shown = medium === NO_MEDIUM ? t('fault.pictureForm') : problem
    throw fault(path, `image: ${name} ${shown}`)
  }
  return (medium as { name: string }).name
}

/** @throws FileFault */
export function parseOperatorAddress(text: string, path: PropertyKey[], fault: YamlFile<unknown>['fault']): Address {
  try {
    return parseAddress(text, Object.keys(HOST_NAMES))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw fault(path, `address: ${error.message}`)
  }
}

function isSameAddress(left: Address, right: Address): boolean {
  return isSameRepository(left, right) && left.ref === right.ref && left.path === right.path
}
