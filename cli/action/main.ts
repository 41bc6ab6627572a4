import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import * as core from '@actions/core'
import { formatAddress } from '#core/address.ts'
import { visibleLine } from '#core/hidden-text.ts'
import { ROOT } from '#core/repo-path.ts'
import { truncateCharacters } from '#core/text.ts'
import { countsOf } from '#indexer/check/difference-words.ts'
import { failuresOf, parseFailOn } from '#indexer/check/fail-on.ts'
import { hasErrors } from '#indexer/check/schema.ts'
import { type InfraSettings, parseInfraSettings } from '#infra/infra-settings.ts'
import { openStores } from '#infra/stores.ts'
import { checkClone, outcomeOfCheck } from './check.ts'
import { build } from './checkout.ts'
import { compareCheckout, differenceOutputs, differenceSummary } from './difference.ts'
import { type Inputs, readInputs } from './inputs.ts'
import { annotationsOf, type Outcome, outputsOf, summaryOf } from './outcome.ts'
import { prewarm } from './prewarm.ts'
import { describeRun } from './repository.ts'
import { assumeRole, withRole } from './role.ts'
import { readWorkflow, WorkflowError, type WorkflowRun } from './workflow.ts'

/** Runs the Action that `action.yml` describes. An error fails the step with one line. */
async function run(env: NodeJS.ProcessEnv): Promise<void> {
  try {
    const inputs = readInputs(name => core.getInput(name))
    const event: unknown = JSON.parse(await readFile(env.GITHUB_EVENT_PATH ?? '', 'utf8'))
    if (inputs.mode === 'diff') return await reportDifference(inputs, event, env)
    if (inputs.mode === 'check') return await reportCheck(inputs, event, env)
    const workflow = readWorkflow(env, event)
    await report(await outcomeOf(inputs, workflow, env))
  } catch (error) {
    core.setFailed((error as Error).message)
  }
}

async function outcomeOf(inputs: Inputs, workflow: WorkflowRun, env: NodeJS.ProcessEnv): Promise<Outcome> {
  const { owner, name, commit } = workflow
  const address = formatAddress({ host: 'gh', owner, repository: name, ref: commit, path: ROOT })
  const built = inputs.mode === 'build' ? await buildHere(inputs, workflow, env) : null
  const page = inputs.service && `${inputs.service}${address}`
  if (inputs.service === null) return { address, commit, page, ...required(built) }
  const { index } = await prewarm({
    service: inputs.service,
    address,
    timeoutSeconds: inputs.timeout,
    onWaiting: reason => core.info(`waiting: ${asPlainLine(reason)}`),
  })
  const { counts, diagnostics, truncated } = index
  return { address, commit, page, ...counts, isPartial: truncated, diagnostics }
}

async function reportDifference(inputs: Inputs, event: unknown, env: NodeJS.ProcessEnv): Promise<void> {
  const wanted = parseFailOn(inputs['fail-on'])
  const compared = await compareCheckout(resolve(env.GITHUB_WORKSPACE ?? '.', inputs.checkout), inputs.from, event)
  const failures = failuresOf(compared, wanted)
  for (const [name, value] of Object.entries(differenceOutputs(compared))) core.setOutput(name, value)
  core.info(countsOf(compared))
  if (env.GITHUB_STEP_SUMMARY) await core.summary.addRaw(differenceSummary(compared, failures)).write()
  if (failures.length > 0)
    core.setFailed(`agents would read differently: ${failures.join(', ')}; the summary of this run has the list`)
}

async function reportCheck({ checkout }: Inputs, event: unknown, env: NodeJS.ProcessEnv): Promise<void> {
  const checked = await checkClone(resolve(env.GITHUB_WORKSPACE ?? '.', checkout), event)
  await report(outcomeOfCheck(checked))
  if (hasErrors(checked)) core.setFailed('errors keep content from agents; the annotations of this run have them')
}

async function buildHere(inputs: Inputs, { commit, repositoryId, apiUrl }: WorkflowRun, env: NodeJS.ProcessEnv) {
  if (repositoryId === null)
    throw new WorkflowError(
      'mode build does not run on pull requests, whose commits are not trusted: use mode prewarm, or build on push',
    )
  const described = await describeRun({ repositoryId, commit }, { apiUrl, token: inputs.token })
  const stores = await openStores(await storesOf(inputs, env))
  try {
    const folder = resolve(env.GITHUB_WORKSPACE ?? '.', inputs.checkout)
    const built = await build(stores, { ...described, commit, folder })
    core.info(built.objects === 0 ? 'already indexed' : `${built.objects} objects, ${built.bytes} bytes written`)
    return built
  } finally {
    await stores.close()
  }
}

/** The store and its credentials: the role of the inputs overrides credentials in the environment. */
async function storesOf({ store, role, audience }: Inputs, env: NodeJS.ProcessEnv): Promise<InfraSettings> {
  const settings = parseInfraSettings({ ...env, MOUNTGLASS_STORE: store })
  if (role === '') return settings
  return withRole(settings, await assumeRole(role, await identityToken(audience)))
}

async function identityToken(audience: string): Promise<string> {
  try {
    return await core.getIDToken(audience)
  } catch (cause) {
    throw new WorkflowError(
      `GitHub issued no OIDC token: give the job the permission id-token: write (${(cause as Error).message})`,
      { cause },
    )
  }
}

async function report(outcome: Outcome): Promise<void> {
  for (const [name, value] of Object.entries(outputsOf(outcome))) core.setOutput(name, value)
  for (const { severity, message, ...properties } of annotationsOf(outcome)) ANNOTATE[severity](message, properties)
  const where = outcome.page ?? outcome.address
  core.info(`${outcome.skills} skills, ${outcome.documents} documents${where === null ? '' : `: ${where}`}`)
  if (process.env.GITHUB_STEP_SUMMARY) await core.summary.addRaw(summaryOf(outcome)).write()
}

/** Makes text of others safe for the log: a runner takes `##[…]` anywhere in a line as a command. */
function asPlainLine(text: string): string {
  return truncateCharacters(visibleLine(text).replaceAll('##[', '## ['), LOG_LINE_CHARACTERS)
}

const LOG_LINE_CHARACTERS = 500

const ANNOTATE = { error: core.error, warning: core.warning, notice: core.notice }

function required<Value>(value: Value | null): Value {
  if (value === null) throw new Error('nothing was built')
  return value
}

await run(process.env)
