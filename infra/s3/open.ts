import type { BlobStore } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { createS3BlobStore } from './blob-store.ts'
import { openBucket, type S3Settings } from './bucket.ts'
import { type Conditions, probeConditions } from './probe.ts'
import { createS3StateStore } from './state-store.ts'
import { StoreError } from './store-error.ts'

/** Both stores of one bucket. Their keys do not meet: documents begin with `ctl/`. */
export interface S3Stores {
  blobs: BlobStore
  states: StateStore
  /** What the server does with conditions: another process need not try it again. */
  conditions: Conditions
  close(): Promise<void>
}

/**
 * Finds out what the server of the bucket does with conditions, and opens the stores.
 *
 * @param known what was found out by another process just now
 * @throws Error whose message tells the operator what to do, without credentials: the bucket cannot be reached or used, or loses documents
 */
export async function openS3Stores(settings: S3Settings, known: Conditions | null = null): Promise<S3Stores> {
  return await openIn(settings, async bucket => {
    const conditions = known ?? (await probeConditions(bucket))
    const { createsOnly, replaces } = conditions
    if (!createsOnly || replaces === null) throw new Error(`${name(settings)} ${LOSES_DOCUMENTS}`)
    return {
      blobs: createS3BlobStore(bucket, { createsOnly }),
      states: createS3StateStore(bucket, replaces),
      conditions,
      close: async () => bucket.close(),
    }
  })
}

/** The same for blobs alone: whoever writes to one key says the same, so a server that knows no conditions will do. */
export async function openS3Blobs(settings: S3Settings, known: Conditions | null = null): Promise<Omit<S3Stores, 'states'>> {
  return await openIn(settings, async bucket => {
    const conditions = known ?? (await probeConditions(bucket))
    return { blobs: createS3BlobStore(bucket, conditions), conditions, close: async () => bucket.close() }
  })
}

const LOSES_DOCUMENTS =
  'does not keep to the conditions of a write (If-None-Match, If-Match), so processes would write over each other’s documents: ' +
  'use a server that does, or keep documents in PostgreSQL with MOUNTGLASS_DATABASE'

async function openIn<Value>(
  settings: S3Settings,
  open: (bucket: ReturnType<typeof openBucket>) => Promise<Value>,
): Promise<Value> {
  const bucket = openBucket(settings)
  try {
    await requireRegion(bucket.region)
    return await open(bucket)
  } catch (error) {
    bucket.close()
    throw error instanceof StoreError ? new Error(explain(settings, error)) : error
  }
}

async function requireRegion(region: () => Promise<string>): Promise<void> {
  try {
    await region()
  } catch {
    throw new Error('the region of the bucket is not known: set AWS_REGION')
  }
}

const OTHER_REGION = [
  'PermanentRedirect',
  'TemporaryRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
]

/** What the operator can do about a bucket that does not answer as it should. */
function explain(settings: S3Settings, { status, code }: StoreError): string {
  const what = name(settings)
  if (code === 'CredentialsProviderError' || code === 'TokenProviderError')
    return `there are no credentials for ${what}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or what else the AWS SDK reads`
  if (OTHER_REGION.includes(code) || status === 301) return `${what} is in another region (${code}): set AWS_REGION`
  if (status === 404) return `there is no ${what} (${code})`
  if (code === 'AccessDenied') return `the credentials may not write to ${what} (${code})`
  if (status === 401 || status === 403) return `the credentials of ${what} are refused (${code})`
  if (status === null) return `${what} cannot be reached (${code})`
  return `${what} cannot be used: its server answers ${status} ${code}`
}

function name({ bucket, endpoint }: S3Settings): string {
  return `bucket ${bucket} at ${endpoint ?? 'AWS'}`
}
