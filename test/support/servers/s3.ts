import type { S3Settings } from '#infra/s3/bucket.ts'
import { s3SettingsOf } from './s3-settings.ts'
import { testServer } from './servers.ts'

/** The bucket of the gateway of this run, which all tests share: each takes a prefix of its own. */
export async function s3Settings(): Promise<S3Settings> {
  return s3SettingsOf(await testServer('s3'))
}
