import { readdir, readFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { expect, test } from 'vitest'
import { YIELDING_NICENESS } from '#core/concurrency/priority.ts'
import { startGit } from '#infra/git/process.ts'

test('git has a lower priority than its parent, with limits and without', async () => {
  const bare = { gitDir: '/nonexistent' }
  for (const options of [bare, { ...bare, resources: { cpuSeconds: 10, fileBytes: 0 } }]) {
    const before = await childrenOf(process.pid)
    const git = startGit(['hash-object', '--stdin'], options)
    try {
      const started = (await childrenOf(process.pid)).filter(pid => !before.includes(pid))
      expect(started.map(pid => getPriority(pid))).toEqual([Math.max(getPriority(), YIELDING_NICENESS)])
    } finally {
      await git.stop()
    }
  }
})

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`)
  // A thread may end meanwhile.
  const read = (thread: string) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')
  const lists = await Promise.all(threads.map(read))
  return lists.flatMap(list => list.split(' ').filter(Boolean).map(Number))
}
