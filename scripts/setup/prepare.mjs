/** All set-up of a checkout: packages and the site. Does nothing, and says nothing, where everything is there. */
import { alone } from './lock.mjs'
import { installPackages, readInstallDecision } from './packages.mjs'
import { findNode, NODE_MISSING } from './runtime.mjs'
import { buildSite, readBuildState } from './site.mjs'
import { runQuietly, StepError, step } from './step.mjs'

/**
 * `withDev` asks for what the tests need as well.
 *
 * @typedef {{ withDev: boolean }} Wanted
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
}

/** @param {string} root */
function requireNode(root) {
  const node = findNode(root)
  if (node === null) throw new StepError(NODE_MISSING)
  return node
}
