import { testApp } from '#test/support/test-app.ts'
import { median, printTable } from './measure.ts'
import { generate } from './repositories.ts'

const ROUNDS = 7
const REQUESTS = 200
/** A 304 takes less than this share of the time of the whole answer. */
const TARGET = 0.5

/** Answers of one process, whole and for a client that has them: the time of the processor. Everything is cached. */
export async function measureConditional(): Promise<void> {
  const app = await testApp({})
  try {
    const { owner, name } = generate(app.repositories.root, 'conditional-1000', 1_000)
    const address = `/local/${owner}/${name}`
    await app.open(address)
    const skill = 'skills/topic-0/skill-0/SKILL.md'
    const rows: Record<string, string | number>[] = []
    for (const url of [
      `/api/v1/mounts${address}`,
      `/api/v1/browse${address}?path=docs/topic-4`,
      `/api/v1/find${address}?query=page`,
      `/api/v1/skills${address}?path=${skill}`,
      `/api/v1/files${address}?path=docs/topic-4/page-4.md`,
      `/api/v1/changes${address}?from=main&skill=${skill}`,
    ]) {
      const { headers, statusCode, body } = await app.app.inject(url)
      if (statusCode !== 200 || typeof headers.etag !== 'string') throw new Error(`${url} answered ${statusCode} ${body}`)
      const rounds: { whole: number; unchanged: number }[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const whole = await microsecondsOf(() => app.app.inject(url))
        const unchanged = await microsecondsOf(() =>
          app.app.inject({ url, headers: { 'if-none-match': headers.etag as string } }),
        )
        // The first round warms both.
        if (round > 0) rounds.push({ whole, unchanged })
      }
      const share = median(rounds.map(({ whole, unchanged }) => unchanged / whole))
      rows.push({
        url: url.replace(address, ''),
        '200, µs': median(rounds.map(({ whole }) => whole)),
        '304, µs': median(rounds.map(({ unchanged }) => unchanged)),
        share,
        target: share < TARGET ? `< ${TARGET}` : `< ${TARGET}: MISSED`,
      })
    }
    printTable('Answers and 304s, without the network (CPU of a request, median of 6 rounds)', rows)
  } finally {
    await app.close()
  }
}

async function microsecondsOf(ask: () => Promise<unknown>): Promise<number> {
  const { user, system } = process.cpuUsage()
  for (let request = 0; request < REQUESTS; request++) await ask()
  const used = process.cpuUsage({ user, system })
  return (used.user + used.system) / REQUESTS
}
