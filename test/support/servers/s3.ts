import type { S3Settings } from '#infra/s3/bucket.ts'
import { testServer } from './servers.ts'

/** The bucket of the gateway of this run, which all tests share: each takes a prefix of its own. */
export async function s3Settings(): Promise<S3Settings> {
  const env = await testServer('s3')
  return {
    bucket: env.MOUNTGLASS_STORE?.slice('s3:'.length) ?? '',
    prefix: '',
    endpoint: env.AWS_ENDPOINT_URL_S3 ?? '',
    region: env.AWS_REGION ?? '',
    credentials: { accessKeyId: env.AWS_ACCESS_KEY_ID ?? '', secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? '' },
  }
}
