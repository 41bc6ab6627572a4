/**
 * The program in a few files, which start in two thirds of the time: a cache of the sources and of the packages that they import
 * (`bundle.mjs`). It runs only while each of these files is as it was read; otherwise the sources run.
 */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The folder of the builds, below the checkout. */
export const BUILDS = '.bundle'
/** The record of the last build. */
export const RECORD = join(BUILDS, 'current.json')

/**
 * The files that a build was made of, and its own, as they were then. Paths are below the checkout.
 *
 * @typedef {{ commands: string, files: [path: string, size: number, mtimeMs: number][] }} ProgramRecord
 */

/**
 * The URL of the bundled commands; `null` unless all files are as they are recorded.
 *
 * @param {string} root the checkout
 * @returns {string | null}
 */
export function findProgram(root) {
  try {
    /** @type {ProgramRecord} */
    const { commands, files } = JSON.parse(readFileSync(join(root, RECORD), 'utf8'))
    return files.every(file => isAsRecorded(root, file)) ? pathToFileURL(join(root, commands)).href : null
  } catch {
    // No record, or a file that it names is gone.
    return null
  }
}

/** @param {string} root @param {ProgramRecord['files'][number]} file */
function isAsRecorded(root, [path, size, mtimeMs]) {
  const now = statSync(join(root, path))
  // Images of containers keep whole seconds: Docker rounds them down, buildah and podman to the nearest.
  const kept = [mtimeMs, Math.floor(mtimeMs / 1000) * 1000, Math.round(mtimeMs / 1000) * 1000]
  return now.size === size && kept.includes(now.mtimeMs)
}
