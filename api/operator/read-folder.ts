import { createHash } from 'node:crypto'
import { open, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { z } from 'zod'
import { type Address, HOST_NAMES, parseAddress } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import { FEATURED_ADDRESSES, FEATURED_FILE_BYTES, OPERATOR_PICTURE_BYTES } from '#core/limits.ts'
import { SettingsError } from '#core/settings.ts'
import { type FeaturedAddress, type Medium, NO_CONTENT, type OperatorContent } from './operator-content.ts'
import { pictureTypeOf } from './picture-type.ts'
import { isSameRepository } from './repository-rule.ts'
import { FileFault, parseYamlFile } from './yaml-file.ts'

const SETTING = 'MOUNTGLASS_OPERATOR'
const FEATURED_FILE = 'featured.yaml'

const FeaturedFile = z
  .array(
    z.strictObject(
      {
        address: z.string('must be an address like /gh/acme/handbook'),
        image: z.string('must be the name of a picture in this folder').optional(),
        verified: z.boolean('must be true or false').default(false),
      },
      {
        error: issue =>
          issue.code === 'unrecognized_keys' ? 'is not a known field (address, image, verified)' : 'must have an address',
      },
    ),
    'must be a list of addresses',
  )
  .max(FEATURED_ADDRESSES, `has more than ${FEATURED_ADDRESSES} addresses`)

/**
 * Reads the folder of the operator's content. Every file in it is optional.
 *
 * @param folder `null` without one
 * @param baseUrl public origin, without a slash at its end
 * @throws SettingsError with the file and the line of the first fault
 */
export async function readOperatorFolder(folder: string | null, baseUrl: string): Promise<OperatorContent> {
  if (folder === null) return NO_CONTENT
  const root = await realpath(folder).catch(() => null)
  if (root === null || !(await stat(root)).isDirectory()) throw new SettingsError(SETTING, `${folder} is not a folder`)
  try {
    const bytes = await readFileInside(root, FEATURED_FILE, FEATURED_FILE_BYTES)
    return bytes === null ? NO_CONTENT : await readFeaturedFile(root, bytes, baseUrl)
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    const line = error.line === null ? '' : `:${error.line}`
    // The message may quote the file, and has to stay on one line.
    const message = error.message.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    throw new SettingsError(SETTING, `${join(folder, FEATURED_FILE)}${line}: ${message}`, { cause: error })
  }
}

async function readFeaturedFile(root: string, bytes: Uint8Array, baseUrl: string): Promise<OperatorContent> {
  const { value: entries, fault } = parseYamlFile(decode(bytes), FeaturedFile)
  const featured: FeaturedAddress[] = []
  const media = new Map<string, Medium>()
  for (const [index, entry] of entries.entries()) {
    const address = orFault(() => parseAddress(entry.address, Object.keys(HOST_NAMES)), [index, 'address'], fault)
    if (featured.some(one => isSameAddress(one.address, address)))
      throw fault([index, 'address'], `address: ${entry.address} is listed twice`)
    let image: string | null = null
    if (entry.image !== undefined) {
      const picture = await readPicture(root, entry.image)
      if ('problem' in picture) throw fault([index, 'image'], `image: ${entry.image} ${picture.problem}`)
      media.set(picture.name, picture.medium)
      image = `${baseUrl}/media/${picture.name}`
    }
    featured.push({ address, image, verified: entry.verified })
  }
  return { featured, media }
}

function orFault(parse: () => Address, path: PropertyKey[], fault: (path: PropertyKey[], message: string) => FileFault): Address {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw fault(path, `address: ${error.message}`)
  }
}

function isSameAddress(left: Address, right: Address): boolean {
  return isSameRepository(left, right) && left.ref === right.ref && left.path === right.path
}

async function readPicture(root: string, name: string): Promise<{ name: string; medium: Medium } | { problem: string }> {
  try {
    const bytes = await readFileInside(root, name, OPERATOR_PICTURE_BYTES)
    if (bytes === null) return { problem: 'is not a file in this folder' }
    const picture = pictureTypeOf(bytes)
    if (picture === null) return { problem: 'is not a PNG, JPEG, GIF or WebP picture' }
    const hash = createHash('sha256').update(bytes).digest('hex')
    return { name: `${hash}.${picture.extension}`, medium: { type: picture.type, bytes } }
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    return { problem: error.message }
  }
}

/**
 * Reads a file; `null` when the name leads to no regular file inside the folder, or cannot be resolved.
 *
 * @throws FileFault when the file cannot be opened or is larger than `maxBytes`
 */
async function readFileInside(root: string, name: string, maxBytes: number): Promise<Uint8Array | null> {
  const path = name.includes('\0') ? null : await realpath(join(root, name)).catch(() => null)
  if (path === null || !path.startsWith(root.endsWith(sep) ? root : root + sep)) return null
  if (!(await stat(path)).isFile()) return null
  const file = await open(path).catch(() => {
    throw new FileFault(null, 'cannot be read')
  })
  try {
    // One byte more than permitted shows that the file is too large.
    const buffer = Buffer.alloc(maxBytes + 1)
    let length = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length)
      length += bytesRead
      if (bytesRead === 0 || length > maxBytes) break
    }
    if (length > maxBytes) throw new FileFault(null, `is larger than ${maxBytes} bytes`)
    return Uint8Array.from(buffer.subarray(0, length))
  } finally {
    await file.close()
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new FileFault(null, 'is not UTF-8 text')
  }
}
