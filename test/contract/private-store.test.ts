import { randomUUID } from 'node:crypto'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { HostRepository } from '#core/ports/git-host.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { splitBlobs, splitStates } from '#infra/by-class.ts'
import { parseInfraSettings } from '#infra/infra-settings.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { createMemoryBlobStore } from '#infra/memory/blob-store.ts'
import { createMemoryStateStore } from '#infra/memory/state-store.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { openS3Stores, type S3Stores } from '#infra/s3/open.ts'
import { openStores } from '#infra/stores.ts'
import { systemClock } from '#infra/system/clock.ts'
import { answered } from '#test/support/answered.ts'
import { createRepositories } from '#test/support/repository.ts'
import { s3Settings } from '#test/support/servers/s3.ts'
import { hasServer, testServer } from '#test/support/servers/servers.ts'

const KEYS = [
  'ctl/job/prv/0a1/one/a',
  'ctl/job/pub/0a1/one/a',
  'ctl/owner/0a1/r1/prv',
  'ctl/prv',
  'ctl/queue/prv/0a1/one/a',
  'ctl/queue/pub/0a1/one/a',
  'ctl/queue/pub/0a1/two/a',
  'probe/prv/a',
  'prv/0a1/one/c/a',
  'prv/0a1/one/p/a',
  'prvx/a',
  'pub/0a1/one/c/a',
  'pub/prv/one/p/a',
]
const PRIVATE = KEYS.filter(key => /^(ctl\/[a-z]+\/)?prv\//.test(key))

describe('stores that keep what is private apart', () => {
  test('objects and documents lie in one of two stores, by the class in their keys', async () => {
    const [others, ofPrivate] = [createMemoryBlobStore(systemClock), createMemoryBlobStore(systemClock)]
    const blobs = splitBlobs(others, ofPrivate)
    for (const key of KEYS) expect(await blobs.create(key, Buffer.from(key))).toBe('created')
    expect(await ofPrivate.list('')).toEqual(PRIVATE)
    expect(await others.list('')).toEqual(KEYS.filter(key => !PRIVATE.includes(key)))
    for (const key of KEYS) {
      expect(Buffer.from((await blobs.read(key))?.bytes ?? []).toString()).toBe(key)
      expect(Buffer.from((await blobs.readRange(key, 1, 3)) ?? []).toString()).toBe(key.slice(1, 4))
      expect(await blobs.create(key, Buffer.from('other'))).toBe('exists')
      await blobs.remove(key)
    }
    expect([...(await others.list('')), ...(await ofPrivate.list(''))]).toEqual([])
  })

  test('documents too, each under the versions of its own store', async () => {
    const [others, ofPrivate] = [createMemoryStateStore(), createMemoryStateStore()]
    const states = splitStates(others, ofPrivate)
    for (const key of KEYS) {
      const created = await states.create(key, 1)
      if (created.status !== 'written') throw new Error(created.status)
      expect(await states.replace(key, 2, created.etag)).toMatchObject({ status: 'written' })
      expect(await states.replace(key, 3, created.etag)).toEqual({ status: 'conflict' })
      expect(await states.read(key)).toMatchObject({ value: 2 })
    }
    expect(await ofPrivate.list('')).toEqual(PRIVATE)
    for (const key of KEYS) await states.remove(key)
    expect([...(await others.list('')), ...(await ofPrivate.list(''))]).toEqual([])
  })

  test('a listing of any prefix, start and limit is that of one store', async () => {
    const [blobs, states] = [
      splitBlobs(createMemoryBlobStore(systemClock), createMemoryBlobStore(systemClock)),
      splitStates(createMemoryStateStore(), createMemoryStateStore()),
    ]
    const [allBlobs, allDocs] = [createMemoryBlobStore(systemClock), createMemoryStateStore()]
    for (const key of KEYS) {
      for (const store of [blobs, allBlobs]) await store.create(key, Buffer.from(key))
      for (const store of [states, allDocs]) await store.create(key, key)
    }
    const prefixes = new Set(KEYS.flatMap(key => Array.from({ length: key.length + 1 }, (_, end) => key.slice(0, end))))
    for (const prefix of prefixes) {
      for (const after of [undefined, '', 'ctl/queue/prv/0a1/one/a', 'prv/', 'prv/0a1/one/c/a', 'z']) {
        for (const limit of [undefined, 0, 1, 3]) {
          const options = { ...(after === undefined ? {} : { after }), ...(limit === undefined ? {} : { limit }) }
          const what = JSON.stringify([prefix, options])
          expect(await blobs.list(prefix, options), what).toEqual(await allBlobs.list(prefix, options))
          expect(await states.list(prefix, options), what).toEqual(await allDocs.list(prefix, options))
        }
      }
    }
  })

  test('what one of the stores refuses is refused', async () => {
    const blobs = splitBlobs(createMemoryBlobStore(systemClock), createMemoryBlobStore(systemClock))
    for (const key of ['', '/', 'prv/', 'prv//a', 'ctl//prv/a', 'ctl/job/prv/../pub/a']) {
      await expect(blobs.create(key, Buffer.of())).rejects.toThrow(RangeError)
      await expect(blobs.read(key)).rejects.toThrow(RangeError)
      await expect(blobs.remove(key)).rejects.toThrow(RangeError)
    }
    await expect(blobs.list('a', { limit: -1 })).rejects.toThrow(RangeError)
  })
})

describe.runIf(hasServer('s3'))('a bucket of private repositories, with credentials of its own', () => {
  /** Settings of a deployment with two buckets, and each bucket as its owner sees it. */
  async function twoBuckets() {
    const env = await testServer('s3')
    const prefix = randomUUID()
    const stranger = {
      accessKeyId: env.STRANGER_AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: env.STRANGER_AWS_SECRET_ACCESS_KEY ?? '',
    }
    const settings = await s3Settings()
    const hidden = { ...settings, bucket: `hidden-${prefix}`, credentials: stranger }
    const client = new S3Client({
      endpoint: settings.endpoint ?? '',
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: stranger,
    })
    await client.send(new CreateBucketCommand({ Bucket: hidden.bucket }))
    client.destroy()
    // As the SDK finds them.
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, env[name])
    onTestFinished(() => void vi.unstubAllEnvs())
    return {
      settings: parseInfraSettings({
        AWS_ENDPOINT_URL_S3: env.AWS_ENDPOINT_URL_S3,
        MOUNTGLASS_STORE: `${env.MOUNTGLASS_STORE}/${prefix}`,
        MOUNTGLASS_PRIVATE_STORE: `s3:${hidden.bucket}`,
        MOUNTGLASS_PRIVATE_AWS_ACCESS_KEY_ID: stranger.accessKeyId,
        MOUNTGLASS_PRIVATE_AWS_SECRET_ACCESS_KEY: stranger.secretAccessKey,
      }),
      ownBucket: await opened({ ...settings, prefix }),
      hiddenBucket: await opened(hidden),
      hidden,
    }
  }

  async function opened(settings: Parameters<typeof openS3Stores>[0]): Promise<S3Stores> {
    const stores = await openS3Stores(settings)
    onTestFinished(() => stores.close())
    return stores
  }

  test('has all that indexing a private repository leaves, and the other one nothing of it', async () => {
    const { settings, ownBucket, hiddenBucket } = await twoBuckets()
    const stores = await openStores(settings)
    onTestFinished(() => stores.close())
    const repositories = await createRepositories()
    onTestFinished(() => repositories.remove())
    const host = await openLocalHost({ root: repositories.root, baseUrl: 'http://127.0.0.1' })
    onTestFinished(() => host.close())
    const everything = async ({ blobs }: S3Stores) => await blobs.list('')

    for (const visibility of ['private', 'public'] as const) {
      const repository = await repositories.create('acme', visibility)
      const commit = await repository.commit({ LICENSE: 'MIT', 'docs/a.md': '# A\n\nSome words.\n' })
      const described = answered(await host.repository('acme', visibility))
      const job = { repository: { ...described, visibility } satisfies HostRepository, commit }
      const queue = createStateQueue(stores.states, systemClock)
      await queue.offer(job)
      const lease = await queue.take('worker')
      if (lease === null) throw new Error('no job')
      const written = await writeSnapshot(
        { blobs: stores.blobs, states: stores.states, hosts: [host] },
        job,
        new AbortController().signal,
      )
      expect(written?.objects).toBeGreaterThan(1)
      if (visibility === 'private') {
        expect(await everything(ownBucket), 'while the job runs').toEqual([])
        await queue.fail(lease, 'index.timeout')
        expect(await everything(ownBucket), 'after its end').toEqual([])
      }
    }
    const [own, hidden] = [await everything(ownBucket), await everything(hiddenBucket)]
    expect(own.length).toBeGreaterThan(2)
    expect(hidden.length).toBeGreaterThan(2)
    expect(own.filter(key => key.includes('prv/'))).toEqual([])
    expect(hidden.filter(key => key.includes('pub/'))).toEqual([])
  })

  test('is closed to whoever has the credentials of the other one', async () => {
    const { hidden } = await twoBuckets()
    const own = await s3Settings()
    await expect(openS3Stores({ ...hidden, credentials: own.credentials })).rejects.toThrow(
      /^the credentials do not allow writing to bucket hidden-\S+ at \S+ \(AccessDenied\): grant /,
    )
    await expect(openS3Stores({ ...own, prefix: 'x', credentials: hidden.credentials })).rejects.toThrow(/AccessDenied/)
  })
})
