import type { BlobStore } from '#core/ports/blob-store.ts'
import type { S3Settings } from '#infra/s3/bucket.ts'
import { openS3Blobs, openS3Stores, type S3Stores } from '#infra/s3/open.ts'
import type { Conditions } from '#infra/s3/probe.ts'
import { s3SettingsOf } from './s3-settings.ts'
import { testServer } from './servers.ts'

/** The bucket of the gateway of this run, which all tests share: each takes a prefix of its own. */
export async function s3Settings(): Promise<S3Settings> {
  return s3SettingsOf(await testServer('s3'))
}

/** What the first stores of this process found out of the bucket. The others believe it, as the job processes of a service do: to try takes longer than most tests. */
let tried: Conditions | null = null

/** Both stores below a prefix of the bucket. */
export async function openTestS3Stores(prefix: string): Promise<S3Stores> {
  const stores = await openS3Stores({ ...(await s3Settings()), prefix }, tried)
  tried = stores.conditions
  return stores
}

/** The blob store alone. */
export async function openTestS3Blobs(prefix: string): Promise<BlobStore> {
  const { blobs, conditions } = await openS3Blobs({ ...(await s3Settings()), prefix }, tried)
  tried = conditions
  return blobs
}
