/** The program of the process that decodes pictures of strangers. */

import sharp from 'sharp'
import { PICTURE_PIXELS, type PictureFormat, readPictureFormat } from '../operator/picture-format.ts'
import type { CutPicture, CutTask } from './cutter.ts'
import { serveTasks } from './task-process.ts'

sharp.cache(false)
sharp.concurrency(1)
// Of the formats that libvips reads, only those that are served, and those only from memory.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: ['Png', 'Jpeg', 'Webp', 'Nsgif'].map(format => `VipsForeignLoad${format}Buffer`) })

/**
 * Decodes a picture, cuts it to size and encodes it anew, so that nothing but its pixels remains. Of a moving picture, the first frame.
 *
 * @throws Error when it is not one whole picture within the bounds
 */
async function cutPicture({ bytes, width, height, fit, type }: CutTask): Promise<CutPicture> {
  const format = readPictureFormat(bytes)
  if ('problem' in format) throw new Error(format.problem)
  const encodedAs = type === 'png' ? 'png' : ENCODERS[format.extension]
  const cut = await sharp(bytes, { limitInputPixels: PICTURE_PIXELS, failOn: 'error', pages: 1 })
    .autoOrient()
    .resize(width, height, { fit: fit === 'fill' ? 'cover' : 'inside', withoutEnlargement: fit === 'inside' })
    .toFormat(encodedAs)
    .toBuffer({ resolveWithObject: true })
  return { type: `image/${encodedAs}`, bytes: cut.data, width: cut.info.width, height: cut.info.height }
}

const ENCODERS = { png: 'png', jpg: 'jpeg', gif: 'gif', webp: 'webp' } as const satisfies Record<
  PictureFormat['extension'],
  string
>

serveTasks(cutPicture)
