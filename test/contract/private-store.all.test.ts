import { randomUUID } from 'node:crypto'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { HostRepository } from '#core/ports/git-host.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { parseInfraSettings } from '#infra/infra-settings.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { openS3Stores, type S3Stores } from '#infra/s3/open.ts'
import { openStores } from '#infra/stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { answered } from '#test/support/answered.ts'
import { createRepositories } from '#test/support/repository.ts'
import { s3Settings } from '#test/support/servers/s3.ts'
import { hasServer, testServer } from '#test/support/servers/servers.ts'

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

  test('has all objects of indexing a private repository, and the other store none of them', async () => {
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

  test('refuses the credentials of the other one', async () => {
    const { hidden } = await twoBuckets()
    const own = await s3Settings()
    await expect(openS3Stores({ ...hidden, credentials: own.credentials })).rejects.toThrow(
      /^the credentials do not allow writing to bucket hidden-\S+ at \S+ \(AccessDenied\): grant /,
    )
    await expect(openS3Stores({ ...own, prefix: 'x', credentials: hidden.credentials })).rejects.toThrow(/AccessDenied/)
  })
})
