import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PictureOptions } from '#api/routes/pictures.ts'
import { printable } from '#core/hidden-text.ts'
import { t } from '#words/t.ts'
import manifest from '../package.json' with { type: 'json' }
import { isInWorkTree } from './in-work-tree.ts'

const PACKAGE = 'mountglass-pictures'
/** In the package of the service there are none: fonts and native code come with a package of their own. */
const OWN = {
  drawer: new URL('../api/pictures/drawer-main.ts', import.meta.url),
  cutter: new URL('../api/pictures/cutter-main.ts', import.meta.url),
}

/**
 * The programs that draw cards and cut pictures: those of this checkout, else those of the package `mountglass-pictures` that is found from
 * this program or from the current folder, in this order. `null`: there are none, and the service has badges alone. Nothing of a repository is
 * executed, so below the current folder the package counts only outside of every work tree.
 *
 * @param warn receives why the package that was found is not used
 */
export function findPicturePrograms(warn: (reason: string) => void): PictureOptions | null {
  if (existsSync(OWN.drawer)) return { drawer: { program: OWN.drawer }, cutter: { program: OWN.cutter } }
  const own = findPackage(import.meta.url)
  if (own !== null) return picturesOf(own, manifest.version, warn)
  const found = findPackage(join(process.cwd(), 'package.json'))
  if (found === null) return null
  if (!isInWorkTree(found.folder)) return picturesOf(found, manifest.version, warn)
  warn(t('problem.picturesOfRepository', { folder: printable(found.folder) }))
  return null
}

interface InstalledPackage {
  folder: string
  version: string
}

/** @param version of this program: both packages are made from one commit */
export function picturesOf(
  { folder, version: other }: InstalledPackage,
  version: string,
  warn: (reason: string) => void,
): PictureOptions | null {
  if (other !== version) {
    warn(t('problem.picturesDiffer', { folder: printable(folder), other: printable(other), version }))
    return null
  }
  const programOf = (name: string) => ({ program: pathToFileURL(join(folder, 'dist', 'server', `${name}-main.mjs`)) })
  return { drawer: programOf('drawer'), cutter: programOf('cutter') }
}

/** @param place a module that would import the package @returns `null`: it is not installed there */
export function findPackage(place: string | URL): InstalledPackage | null {
  try {
    const path = createRequire(place).resolve(`${PACKAGE}/package.json`)
    const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: unknown }
    return { folder: dirname(path), version: String(version) }
  } catch {
    return null
  }
}
