import { describe, expect, test } from 'vitest'
import { descendantsOf } from '#indexer/jobs/processes.ts'
import { isAlive } from '#test/support/is-alive.ts'
import { until } from '#test/support/until.ts'
import { allDone, isIndexed, offer, recordOf, slow, start, untilReading, useWorkScene } from './work-scene.ts'

useWorkScene()

describe('when stopped', () => {
  test('an idle worker ends', async () => {
    const worker = start()
    await worker.said('job process ready')
    const family = descendantsOf(worker.child.pid as number)
    worker.child.kill('SIGINT')
    expect(await worker.ended).toEqual({ code: 0, signal: null })
    expect(family.filter(isAlive)).toEqual([])
  })

  test('a worker finishes a job that ends soon', async () => {
    // On a busy machine the job may end later than the worker waits, which hands it back: the next one tries again.
    do {
      await slow.hold()
      const worker = start({ isSlow: true })
      await offer('one')
      await untilReading(worker, 'one')
      worker.child.kill('SIGTERM')
      await worker.said('stopping')
      await slow.goOn()
      expect(await worker.ended).toEqual({ code: 0, signal: null })
    } while ((await recordOf('one')) !== null)
    expect(await isIndexed('one')).toBe(true)
  })

  test('a worker hands a long job back, and another takes it without waiting for the lease', async () => {
    const env = { MOUNTGLASS_LEASE_SECONDS: '600' }
    const worker = start({ isSlow: true, env })
    await offer('one')
    await untilReading(worker, 'one')
    worker.child.kill('SIGTERM')
    await worker.said('job released before its end')
    // In time: it would have ended with 1 otherwise.
    expect(await worker.ended).toEqual({ code: 0, signal: null })
    expect(await recordOf('one')).toMatchObject({ state: 'released', crashes: 0 })
    await slow.goOn()
    const next = start({ env })
    await next.said('indexed')
    await allDone()
    expect(await isIndexed('one')).toBe(true)
  })

  test('a worker hands back a hanging job, and no crash is counted', async () => {
    const worker = start()
    await offer('hangs')
    await until(async () => (await recordOf('hangs'))?.state === 'leased')
    const family = descendantsOf(worker.child.pid as number)
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toEqual({ code: 0, signal: null })
    expect(await recordOf('hangs')).toMatchObject({ state: 'released', crashes: 0 })
    expect(family.filter(isAlive)).toEqual([])
  })

  test('and again a second later, a worker ends at once', async () => {
    let ended: Awaited<ReturnType<typeof start>['ended']>
    // On a busy machine the second signal may come when the worker has handed its job back: then the next one is told.
    do {
      const worker = start({ isSlow: true })
      await offer('one')
      await untilReading(worker, 'one')
      const family = descendantsOf(worker.child.pid as number)
      worker.child.kill('SIGTERM')
      await worker.said('stopping')
      // Within a second it is the same ask: see stop-signal.ts.
      await until(() => !worker.child.kill('SIGTERM'))
      ended = await worker.ended
      await until(() => !family.some(isAlive))
    } while (ended.code === 0)
    expect(ended).toEqual({ code: 1, signal: null })
    expect(await recordOf('one')).toMatchObject({ state: 'leased' })
  })

  test('together with all its processes, as by a terminal, a worker counts no crash', async () => {
    const worker = start({ isSlow: true })
    await offer('one')
    await untilReading(worker, 'one')
    for (const pid of [worker.child.pid as number, ...descendantsOf(worker.child.pid as number)]) interrupt(pid)
    expect(await worker.ended).toEqual({ code: 0, signal: null })
    expect(await recordOf('one')).toMatchObject({ state: 'released', crashes: 0 })
  })
})

function interrupt(pid: number): void {
  try {
    process.kill(pid, 'SIGINT')
  } catch (error) {
    // A git of the job ended in between.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
