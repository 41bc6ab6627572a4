/** All set-up of a checkout: packages, the site, the bundle of the program. Does nothing, and says nothing, where everything is there. */
import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { alone } from './lock.mjs'
import { installPackages, readInstallDecision } from './packages.mjs'
import { BUILDS, findProgram } from './program.mjs'
import { findNode, NODE_MISSING } from './runtime.mjs'
import { buildSite, readBuildState } from './site.mjs'
import { runQuietly, StepError, step } from './step.mjs'

/**
 * `withDev` asks for what the tests need as well, `withBundle` for what makes many starts faster.
 *
 * @typedef {{ withDev: boolean, withBundle: boolean }} Wanted
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
  if (!(await isReady()) || needsBundle(root, wanted)) {
    await alone(
      root,
      () => bringUpToDate(root, wanted),
      () => process.stdout.write('waiting for another set-up of this checkout\n'),
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
  if (decision !== 'nothing') await step('installing packages', () => installPackages(root, decision))
  const node = requireNode(root)
  const { hash, isStale } = await readBuildState(root)
  if (isStale) await step('building the site', () => buildSite(root, node, hash))
  if (!needsBundle(root, wanted)) return
  // If this fails, the program runs from its sources.
  const bundle = () => runQuietly(node, [join(root, 'scripts', 'setup', 'bundle.mjs')])
  await step('bundling the program', bundle).catch(error => process.stdout.write(`${error.message}\n`))
}

/** @param {string} root @param {Wanted} wanted */
function needsBundle(root, { withBundle }) {
  return withBundle && findProgram(root) === null && isWritable(root) && isWritable(join(root, BUILDS))
}

/**
 * Whether it may be written to, or made.
 *
 * @param {string} folder
 */
function isWritable(folder) {
  if (!existsSync(folder)) return true
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** @param {string} root */
function requireNode(root) {
  const node = findNode(root)
  if (node === null) throw new StepError(NODE_MISSING)
  return node
}
