import { expect, onTestFinished, test } from 'vitest'
import { openS3Blobs, openS3Stores } from '#infra/s3/open.ts'
import { type Habits, startCarelessS3 } from '#test/support/servers/careless-s3.ts'

async function serverWith(habits: Habits) {
  const server = await startCarelessS3(habits)
  onTestFinished(() => server.close())
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' }
  return { server, settings: { bucket: 'data', prefix: 'fleet', endpoint: server.url, region: 'us-east-1', credentials } }
}

test.for<{ habits: Habits; requests: number }>([
  { habits: { ifNoneMatch: 'kept', ifMatch: 'quoted' }, requests: 5 },
  { habits: { ifNoneMatch: 'kept', ifMatch: 'both' }, requests: 5 },
  { habits: { ifNoneMatch: 'kept', ifMatch: 'bare' }, requests: 6 },
])('a server like $habits holds entries, and is found out by $requests requests', async ({ habits, requests }) => {
  const { server, settings } = await serverWith(habits)
  const { states } = await openS3Stores(settings)
  onTestFinished(() => states.close())
  expect(server.requests).toHaveLength(requests)
  expect([...server.objects.keys()], 'nothing is left of the probe').toEqual([])
  const created = await states.create('ctl/key', 1)
  if (created.status !== 'written') throw new Error(created.status)
  expect(await states.replace('ctl/key', 2, created.etag)).toMatchObject({ status: 'written' })
  expect(await states.replace('ctl/key', 3, created.etag)).toEqual({ status: 'conflict' })
  expect(await states.read('ctl/key')).toMatchObject({ value: 2 })
})

const LOSING: Habits[] = [
  { ifNoneMatch: 'ignored', ifMatch: 'ignored' },
  { ifNoneMatch: 'ignored', ifMatch: 'both' },
  { ifNoneMatch: 'kept', ifMatch: 'ignored' },
  { ifNoneMatch: 'kept', ifMatch: 'refused' },
  { ifNoneMatch: 'kept', ifMatch: 'not implemented' },
  { ifNoneMatch: 'not implemented', ifMatch: 'not implemented' },
]

test.for(LOSING)('a server like %o would lose entries: it is refused, with the remedy', async habits => {
  const { server, settings } = await serverWith(habits)
  const refusal = /^bucket data at http:\S+ ignores the conditions.*use a server that supports them, or .* MOUNTGLASS_DATABASE$/
  await expect(openS3Stores(settings)).rejects.toThrow(refusal)
  expect([...server.objects.keys()]).toEqual([])
})

test.for(LOSING)('a server like %o holds objects, whose bytes follow from their keys', async habits => {
  const { server, settings } = await serverWith(habits)
  const { blobs } = await openS3Blobs(settings)
  onTestFinished(() => blobs.close())
  expect(await blobs.create('pub/a', Buffer.from('first'))).toBe('created')
  expect(await blobs.create('pub/a', Buffer.from('second'))).toBe('exists')
  expect([...server.objects]).toEqual([['/data/fleet/pub/a', Buffer.from('first')]])
})

test('the result of a probe is stored and not probed again', async () => {
  const { server, settings } = await serverWith({ ifNoneMatch: 'kept', ifMatch: 'bare' })
  const first = await openS3Stores(settings)
  onTestFinished(() => first.close())
  const before = server.requests.length
  const second = await openS3Stores(settings, first.conditions)
  onTestFinished(() => second.close())
  expect(server.requests).toHaveLength(before)
  const created = await second.states.create('ctl/key', 1)
  if (created.status !== 'written') throw new Error(created.status)
  expect(await second.states.replace('ctl/key', 2, created.etag)).toMatchObject({ status: 'written' })
})
