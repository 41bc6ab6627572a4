import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { startService } from '#test/support/service.ts'
import { callPaths } from './calls.ts'
import { printTable, spreadOf } from './measure.ts'
import { makeRepositories } from './repositories.ts'

/** A generated repository, and a real one. */
const NAMES = ['files-1000', 'superpowers']
/** Until the sources are compiled. */
const WARMING_CALLS = 3_000
const CALLS = 1_000
/** Milliseconds, p50. */
const TARGETS: Readonly<Record<string, number>> = { mounts: 1, skills: 1, find: 5 }

/** What one caller waits for answers about a mount, one after another. Everything is cached. */
export async function measureMounts(root: string): Promise<void> {
  const repositories = await makeRepositories(root, NAMES)
  const github = await startFakeGitHub({ root })
  const service = await startService({
    MOUNTGLASS_GITHUB_URL: github.origins.web,
    MOUNTGLASS_GITHUB_API_URL: github.origins.api,
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_STORE: `disk:${join(root, 'store')}`,
    MOUNTGLASS_LOG: 'warn',
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    for (const host of ['gh', 'local']) {
      for (const { owner, name } of repositories) {
        const address = `/${host}/${owner}/${name}`
        await service.get('mounts', address)
        const rows: Record<string, string | number>[] = []
        for (const path of [`/api/v1/mounts${address}`, ...(await callPaths(service, address))]) {
          const endpoint = path.split('/')[3] ?? ''
          const call = () => ask(`${service.baseUrl}${path}`, agent)
          await spreadOf(WARMING_CALLS, call)
          const { p50, p99 } = await spreadOf(CALLS, call)
          const target = TARGETS[endpoint]
          const verdict = target === undefined ? '' : `<= ${target} ms${p50 > target ? ': MISSED' : ''}`
          rows.push({ endpoint, 'p50 ms': p50, 'p99 ms': p99, target: verdict })
        }
        printTable(`Answers about ${address}, one caller (${CALLS} of each)`, rows)
      }
    }
  } finally {
    agent.destroy()
    await service.stop()
    await github.close()
  }
}

/** Reads an answer to its end. @throws Error unless it is 200 */
function ask(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, response => {
      response.resume()
      response.on('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(new Error(`${url} answered ${response.statusCode}`))
      })
    })
    request.on('error', reject)
  })
}
