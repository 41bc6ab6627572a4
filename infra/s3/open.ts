import type { BlobStore } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { createS3BlobStore } from './blob-store.ts'
import { type Bucket, openBucket, type S3Settings } from './bucket.ts'
import { type Conditions, probeConditions } from './probe.ts'
import { createS3StateStore } from './state-store.ts'
import { StoreError } from './store-error.ts'

/** Both stores of one bucket. Their keys are disjoint: those of the state store begin with `ctl/`. */
export interface S3Stores {
  blobs: BlobStore
  states: StateStore
  /** The server's support for conditional writes, for processes that open the same bucket. */
  conditions: Conditions
  close(): Promise<void>
}

/**
 * Probes the server's support for conditional writes and opens both stores.
 *
 * @param known the result of another process, which replaces the probe
 * @throws Error whose message tells the operator what to do, without credentials: the bucket cannot be used, or would lose entries
 */
export async function openS3Stores(settings: S3Settings, known: Conditions | null = null): Promise<S3Stores> {
  return await openIn(settings, async bucket => {
    const conditions = known ?? (await probeConditions(bucket))
    const { createsOnly, replaces } = conditions
    if (!createsOnly || replaces === null) throw new SentenceError(t('problem.bucketConditions', { bucket: name(settings) }))
    return {
      blobs: createS3BlobStore(bucket, { createsOnly }),
      states: createS3StateStore(bucket, replaces),
      conditions,
      close: async () => bucket.close(),
    }
  })
}

/** Opens the blob store alone. Conditions are optional: all writers of a key write the same bytes. @throws as `openS3Stores` */
export async function openS3Blobs(settings: S3Settings, known: Conditions | null = null): Promise<Omit<S3Stores, 'states'>> {
  return await openIn(settings, async bucket => {
    const conditions = known ?? (await probeConditions(bucket))
    return { blobs: createS3BlobStore(bucket, conditions), conditions, close: async () => bucket.close() }
  })
}

async function openIn<Value>(settings: S3Settings, open: (bucket: Bucket) => Promise<Value>): Promise<Value> {
  const bucket = openBucket(settings)
  try {
    await requireRegion(bucket)
    return await open(bucket)
  } catch (error) {
    bucket.close()
    throw error instanceof StoreError ? new SentenceError(explain(settings, error)) : error
  }
}

async function requireRegion(bucket: Bucket): Promise<void> {
  try {
    await bucket.region()
  } catch {
    throw new SentenceError(t('problem.bucketRegion'))
  }
}

const OTHER_REGION = [
  'PermanentRedirect',
  'TemporaryRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
]

/** What the SDK says of an answer without a code. Every error of S3 has one, but the pages of a proxy have none. */
const WITHOUT_CODE = ['Unknown', 'Error']

/** Tells the operator what to change. */
function explain(settings: S3Settings, { status, code }: StoreError): string {
  const bucket = name(settings)
  if (code === 'CredentialsProviderError' || code === 'TokenProviderError') return t('problem.bucketCredentials', { bucket })
  const { proxyVariable: variable } = settings
  if (variable && (status === null || WITHOUT_CODE.includes(code)))
    return t('problem.bucketBehindProxy', { bucket, variable, code: status ?? code })
  if (OTHER_REGION.includes(code) || status === 301) return t('problem.bucketElsewhere', { bucket, code })
  if (status === 404) return t('problem.bucketMissing', { bucket, code })
  if (code === 'AccessDenied') return t('problem.bucketDenied', { bucket, code })
  if (status === 401 || status === 403) return t('problem.bucketRefused', { bucket, code })
  if (status === null) return t('problem.bucketUnreachable', { bucket, code })
  return t('problem.bucketUnusable', { bucket, status, code })
}

function name({ bucket, endpoint }: S3Settings): string {
  return t('problem.bucket', { bucket, place: endpoint ?? 'AWS' })
}
