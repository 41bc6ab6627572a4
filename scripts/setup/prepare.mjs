/** All set-up of a checkout: packages and the site. Does nothing, and says nothing, where everything is there. */

import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installPackages, readInstallDecision } from './packages.mjs'
import { findNode, NODE_MISSING } from './runtime.mjs'
import { buildSite, readBuildState } from './site.mjs'
import { runQuietly, StepError, step } from './step.mjs'

/**
 * `withDev` asks for what the tests need as well; `progress` receives what is done. Default: stdout.
 *
 * @typedef {{ withDev: boolean, progress?: NodeJS.WritableStream }} Wanted
 */

/**
 * @param {string} root the checkout
 * @param {Wanted} wanted
 * @returns {Promise<string>} path of the Node that runs the program
 * @throws StepError
 */
export async function prepare(root, wanted) {
  await runQuietly('git', ['--version']).catch(() => {
    throw new StepError('git is needed: install it and start again')
  })
  const isReady = async () =>
    (await readInstallDecision(root, wanted.withDev)) === 'nothing' && !(await readBuildState(root)).isStale
  if (!(await isReady())) {
    await alone(
      root,
      () => bringUpToDate(root, wanted),
      () => (wanted.progress ?? process.stdout).write('waiting for another set-up of this checkout\n'),
    )
  }
  return requireNode(root)
}

/**
 * @param {string} root
 * @param {Wanted} wanted
 */
async function bringUpToDate(root, wanted) {
  const decision = await readInstallDecision(root, wanted.withDev)
  if (decision !== 'nothing') await step('installing packages', () => installPackages(root, decision), wanted.progress)
  const node = requireNode(root)
  const { isStale } = await readBuildState(root)
  if (isStale) await step('building the site', () => buildSite(root, node), wanted.progress)
}

/** @param {string} root */
function requireNode(root) {
  const node = findNode(root)
  if (node === null) throw new StepError(NODE_MISSING)
  return node
}

/** One set-up at a time in one checkout. */

/** The holder touches the file every second. A file that is older than this is stale. */
const STALE_AFTER_MS = 10_000

/**
 * Runs `work` under the lock of the checkout, after waiting for its holder.
 *
 * @template T
 * @param {string} root
 * @param {() => Promise<T>} work
 * @param {() => void} onWait called once when another process is at it
 * @returns {Promise<T>}
 */
export async function alone(root, work, onWait) {
  const file = join(root, '.setup.lock')
  for (let tries = 0; !(await take(file)); tries += 1) {
    if (tries === 0) onWait()
    await new Promise(resolve => setTimeout(resolve, 250))
  }
  const heartbeat = setInterval(() => utimes(file, new Date(), new Date()).catch(() => {}), 1000)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    await rm(file, { force: true })
  }
}

/** @param {string} file */
async function take(file) {
  try {
    await writeFile(file, `${process.pid}\n`, { flag: 'wx' })
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  await dropStale(file)
  return false
}

/**
 * Renames the stale file before it removes it: if several processes find it stale, one renames it, and none removes a newer file of the name.
 *
 * @param {string} file
 */
async function dropStale(file) {
  const touched = await stat(file).catch(() => null)
  if (touched === null || Date.now() - touched.mtimeMs < STALE_AFTER_MS) return
  const owner = await readFile(file, 'utf8').catch(() => '')
  const aside = `${file}.${process.pid}`
  if (
    await rename(file, aside).then(
      () => true,
      () => false,
    )
  ) {
    if ((await readFile(aside, 'utf8')) === owner) await rm(aside, { force: true })
    else await rename(aside, file)
  }
}
