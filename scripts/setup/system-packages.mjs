/** What the tests need of the system: installed by one call of apt where this user may, else said. */
import { existsSync } from 'node:fs'
import { runQuietly, StepError, step } from './step.mjs'

/**
 * @typedef {object} Wanted
 * @property {string} title for the reader of the run: `Chromium`
 * @property {string[]} packages Debian's packages of it
 * @property {() => boolean} isThere
 * @property {string} advice what to do where it has to be installed by hand
 * @property {() => Promise<() => Promise<void>>} [prepare] is called before its packages are installed, what it gives afterwards
 */

// Throwaway machines run the tests first of all: nothing of these is read, and a crash of one costs a repetition.
const OPTIONS = ['force-unsafe-io', 'path-exclude=/usr/share/doc/*', 'path-exclude=/usr/share/man/*']

/**
 * Installs what is missing. Where something still is afterwards, the line says how to get it, and its tests are left out.
 *
 * @param {Wanted[]} wanted
 */
export async function prepareSystemPackages(wanted) {
  const missing = wanted.filter(({ isThere }) => !isThere())
  if (missing.length === 0) return
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    try {
      await step(`installing ${missing.map(({ title }) => title).join(', ')} for the tests`, () => install(missing))
    } catch (error) {
      if (!(error instanceof StepError)) throw error
      process.stdout.write(`${error.message}\n`)
    }
  }
  for (const { isThere, advice } of missing) if (!isThere()) process.stdout.write(`${advice}\n`)
}

/** @param {Wanted[]} missing */
async function install(missing) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const options = OPTIONS.flatMap(option => ['-o', `Dpkg::Options::=--${option}`])
  const packages = missing.flatMap(({ packages }) => packages)
  const ends = await Promise.all(missing.map(({ prepare }) => prepare?.()))
  try {
    await runQuietly('apt-get', ['update', '-qq'], { env })
    await runQuietly('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...options, ...packages], { env })
  } finally {
    for (const end of ends) await end?.()
  }
}
