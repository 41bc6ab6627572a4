import { parseInfraSettings } from '#infra/infra-settings.ts'
import { openInfra } from '#infra/open.ts'
import { startInProcess } from './in-process.ts'
import type { AnswersInContext } from './lock/answers.ts'
import { ownAnswers } from './lock/own-answers.ts'
import { createInProcessRunner } from './runners.ts'

/** Opens a service in this process, without a port, to ask it. @throws SettingsError */
export async function openInProcessAnswers(env: NodeJS.ProcessEnv): Promise<AnswersInContext & { close(): Promise<void> }> {
  const settings = parseInfraSettings({ MOUNTGLASS_STORE: 'memory:', ...env })
  const infra = await openInfra(settings)
  const { handlers, hosts, close } = startInProcess({ infra, runner: createInProcessRunner(infra) })
  const knowsLocal = settings.localRepositories !== null
  return { answers: ownAnswers(handlers, { hosts, knowsLocal }), context: { hosts, baseUrl: settings.baseUrl }, close }
}
