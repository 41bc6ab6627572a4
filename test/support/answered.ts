import type { GitHost, HostAnswer } from '#core/ports/git-host.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'

/** What a host told. @throws Error with its status when it told nothing */
export function answered<Value>(answer: HostAnswer<Value> | { status: 'gone' }): Value {
  if (answer.status !== 'ok') throw new Error(`the host answers ${answer.status}`)
  return answer.value
}

/** The job of a repository at its default branch. */
export async function jobAt(host: GitHost, owner: string, name: string): Promise<IndexJob> {
  const repository = answered(await host.repository(owner, name))
  return { repository, commit: answered(await host.resolve(repository, null)) }
}
