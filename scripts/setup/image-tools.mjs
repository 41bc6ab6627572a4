/** What builds an image of a container for its test, and the base that it stands on: programs of Debian that need no container engine. */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const PROGRAMS = ['buildah', 'mmdebstrap', 'setpriv', 'unshare']

/** Whether this user can build an image here, and run it: mounts need root. */
export function hasImageTools() {
  const places = (process.env.PATH ?? '').split(delimiter)
  return process.getuid?.() === 0 && PROGRAMS.every(program => places.some(place => existsSync(join(place, program))))
}

/** @type {import('./system-packages.mjs').Wanted} */
export const IMAGE_TOOLS = {
  title: 'buildah and mmdebstrap',
  packages: ['buildah', 'mmdebstrap'],
  isThere: hasImageTools,
  advice: 'the test of the image needs root and the packages buildah and mmdebstrap',
}
