/** What the tests need of the system: installed by one call of apt where this user may, else said. */

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
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

/** The generator of clients in Perl that the tests of the OpenAPI description use: the one of the system. */

/** Whether Perl finds it. */
export function hasPerlClient() {
  return spawnSync('perl', ['-MOpenAPI::Client', '-e', '1'], { stdio: 'ignore' }).status === 0
}

/** @type {Wanted} */
export const PERL_CLIENT = {
  title: 'the OpenAPI client of Perl',
  packages: ['libopenapi-client-perl'],
  isThere: hasPerlClient,
  advice: 'the test of a client in Perl needs the package libopenapi-client-perl, or OpenAPI::Client from CPAN',
}

/** The browser of the tests that look at pages: the one of the system. */

/** The first one has no windows, and takes half the processor time for the same pages. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/** Path of a Chromium: `CHROMIUM_PATH` when set, else the first known name on the `PATH`; `null` when there is none. */
export function findBrowser(env = process.env) {
  if (env.CHROMIUM_PATH) return env.CHROMIUM_PATH
  const folders = (env.PATH ?? '').split(delimiter)
  return NAMES.flatMap(name => folders.map(folder => join(folder, name))).find(path => existsSync(path)) ?? null
}

/** @type {Wanted} */
export const BROWSER = {
  title: 'Chromium',
  packages: ['chromium-headless-shell'],
  isThere: () => findBrowser() !== null,
  advice: 'tests of the pages need Chromium: install it, for example the package "chromium-headless-shell", or set CHROMIUM_PATH',
}

/** What builds an image of a container for its test, and the base that it stands on: programs of Debian that need no container engine. */

const PROGRAMS = ['buildah', 'mmdebstrap', 'setpriv', 'unshare']

/** Whether this user can build an image here, and run it: mounts need root. */
export function hasImageTools() {
  const places = (process.env.PATH ?? '').split(delimiter)
  return process.getuid?.() === 0 && PROGRAMS.every(program => places.some(place => existsSync(join(place, program))))
}

/** @type {Wanted} */
export const IMAGE_TOOLS = {
  title: 'buildah and mmdebstrap',
  packages: ['buildah', 'mmdebstrap'],
  isThere: hasImageTools,
  advice: 'the test of the image needs root and the packages buildah and mmdebstrap',
}
