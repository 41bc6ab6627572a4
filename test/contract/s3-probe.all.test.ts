import { expect, onTestFinished, test } from 'vitest'
import { openS3Stores } from '#infra/s3/open.ts'
import { startFaultyProxy } from '#test/support/servers/faulty-proxy.ts'
import { s3Settings } from '#test/support/servers/s3.ts'
import { hasServer } from '#test/support/servers/servers.ts'

test.runIf(hasServer('s3'))('the gateway is found out by five writes and a removal', async () => {
  const settings = await s3Settings()
  const proxy = await startFaultyProxy(settings.endpoint ?? '')
  onTestFinished(() => proxy.close())
  const stores = await openS3Stores({ ...settings, prefix: 'probed', endpoint: proxy.url })
  await stores.close()
  expect(proxy.requests.map(({ method }) => method)).toEqual(['PUT', 'PUT', 'PUT', 'PUT', 'PUT', 'DELETE'])
  const [first, again, quoted, bare, stale] = proxy.requests.map(({ condition }) => condition)
  expect([first, again]).toEqual(['*', '*'])
  expect(quoted).toBe(`"${bare}"`)
  expect(stale).toBe(bare)
})

test.runIf(hasServer('s3')).for([1, 2, 3, 4, 5, 6])(
  'the probe continues if the answer to its request %i is lost, or the server is busy',
  async number => {
    const settings = await s3Settings()
    const proxy = await startFaultyProxy(settings.endpoint ?? '')
    onTestFinished(() => proxy.close())
    for (const fault of [{ kind: 'answer lost' }, { kind: 'answered', status: 503 }] as const) {
      const [before, prefix] = [proxy.requests.length, `probed-${number}-${fault.kind.length}`]
      proxy.befall(() => (proxy.requests.length - before === number ? fault : null))
      const stores = await openS3Stores({ ...settings, prefix, endpoint: proxy.url })
      onTestFinished(() => stores.close())
      expect(proxy.requests.length - before).toBeLessThanOrEqual(8)
      expect(await stores.states.list(''), 'nothing is left of the probe').toEqual([])
      const created = await stores.states.create('ctl/key', 1)
      if (created.status !== 'written') throw new Error(created.status)
      expect(await stores.states.replace('ctl/key', 2, created.etag)).toMatchObject({ status: 'written' })
    }
  },
)
