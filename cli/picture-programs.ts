import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PictureOptions } from '#api/routes/pictures.ts'
import { t } from '#words/t.ts'
import manifest from '../package.json' with { type: 'json' }

const PACKAGE = 'mountglass-pictures'
/** In the package of the service there are none: fonts and native code come with a package of their own. */
const OWN = {
  drawer: new URL('../api/pictures/drawer-main.ts', import.meta.url),
  cutter: new URL('../api/pictures/cutter-main.ts', import.meta.url),
}

/**
 * The programs that draw cards and cut pictures: those of this checkout, else those of the package `mountglass-pictures` that is found from
 * this program or from the current folder, in this order. `null`: there are none, and the service has badges alone.
 *
 * @param warn receives why the package that was found is not used
 */
export function findPicturePrograms(warn: (reason: string) => void): PictureOptions | null {
  if (existsSync(OWN.drawer)) return { drawer: { program: OWN.drawer }, cutter: { program: OWN.cutter } }
  return picturesFrom([import.meta.url, join(process.cwd(), 'package.json')], manifest.version, warn)
}

/**
 * @param places modules that would import the package, best first
 * @param version of this program: both packages are made from one commit
 */
export function picturesFrom(
  places: readonly (string | URL)[],
  version: string,
  warn: (reason: string) => void,
): PictureOptions | null {
  const found = places.flatMap(resolvePackage)[0]
  if (found === undefined) return null
  const { version: other } = JSON.parse(readFileSync(found, 'utf8')) as { version: string }
  if (other !== version) {
    warn(t('problem.picturesDiffer', { folder: dirname(found), other, version }))
    return null
  }
  const programOf = (name: string) => ({ program: pathToFileURL(join(dirname(found), 'dist', 'server', `${name}-main.mjs`)) })
  return { drawer: programOf('drawer'), cutter: programOf('cutter') }
}

/** The path of its `package.json`; none where it is not installed. */
function resolvePackage(place: string | URL): string[] {
  try {
    return [createRequire(place).resolve(`${PACKAGE}/package.json`)]
  } catch {
    return []
  }
}
