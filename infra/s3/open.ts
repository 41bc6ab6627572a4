import type { BlobStore } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
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
    if (!createsOnly || replaces === null) throw new Error(`${name(settings)} ${NO_CONDITIONS}`)
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

const NO_CONDITIONS =
  'ignores the conditions of a write (If-None-Match, If-Match), so processes would overwrite each other’s job states: ' +
  'use a server that supports them, or keep the states in PostgreSQL with MOUNTGLASS_DATABASE'

async function openIn<Value>(settings: S3Settings, open: (bucket: Bucket) => Promise<Value>): Promise<Value> {
  const bucket = openBucket(settings)
  try {
    await requireRegion(bucket)
    return await open(bucket)
  } catch (error) {
    bucket.close()
    throw error instanceof StoreError ? new Error(explain(settings, error)) : error
  }
}

async function requireRegion(bucket: Bucket): Promise<void> {
  try {
    await bucket.region()
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

/** A message that tells the operator what to change. */
function explain(settings: S3Settings, { status, code }: StoreError): string {
  const what = name(settings)
  if (code === 'CredentialsProviderError' || code === 'TokenProviderError')
    return `there are no credentials for ${what}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or another source of the AWS SDK`
  if (OTHER_REGION.includes(code) || status === 301) return `${what} is in another region (${code}): set AWS_REGION`
  if (status === 404) return `there is no ${what} (${code}): create it, or correct its name`
  if (code === 'AccessDenied')
    return `the credentials do not allow writing to ${what} (${code}): grant read, write, list and delete`
  if (status === 401 || status === 403)
    return `the credentials of ${what} are refused (${code}): check the access key and its secret`
  if (status === null) return `${what} cannot be reached (${code}): check the endpoint, and that its server is running`
  return `${what} cannot be used: its server answers ${status} ${code}`
}

function name({ bucket, endpoint }: S3Settings): string {
  return `bucket ${bucket} at ${endpoint ?? 'AWS'}`
}
