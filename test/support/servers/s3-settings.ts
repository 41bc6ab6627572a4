import type { S3Settings } from '#infra/s3/bucket.ts'
import { PATIENT } from '../patient.ts'

/** What the environment of a process that uses a bucket says, its credentials too, with patience for a busy machine. */
export function s3SettingsOf(env: Readonly<Record<string, string>>): S3Settings {
  const [, bucket = '', prefix = ''] = /^s3:([^/]+)(?:\/(.+))?$/.exec(env.MOUNTGLASS_STORE ?? '') ?? []
  return {
    bucket,
    prefix,
    endpoint: env.AWS_ENDPOINT_URL_S3 ?? '',
    region: env.AWS_REGION ?? '',
    credentials: { accessKeyId: env.AWS_ACCESS_KEY_ID ?? '', secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? '' },
    answerMs: PATIENT.answerMs,
  }
}
