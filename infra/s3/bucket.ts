import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
} from '@aws-sdk/client-s3'
import { compareBytes } from '#core/text.ts'
import { type Allow, attempt, repeat } from './attempts.ts'
import { StoreError } from './store-error.ts'

/** Where a bucket is, and as whom it is asked. `null`: as the SDK finds it. */
export interface S3Settings {
  bucket: string
  /** Before every key, without a slash at its ends; empty: none. */
  prefix: string
  /** `null`: the service of AWS. */
  endpoint: string | null
  region: string | null
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | null
}

/** What a server asks of the etag in a condition: as HTTP writes it, or without its quotes. */
export type EtagForm = 'quoted' | 'bare'

/** What must hold for a write: nothing is at the key, or the version of the etag. */
export type Condition = 'absent' | { etag: string; form: EtagForm }

export interface NewObject {
  key: string
  bytes: Uint8Array
  type: 'application/octet-stream' | 'application/json'
  condition?: Condition
  /** Kept beside the object. */
  nonce?: string
}

/** One request each, and its errors. Etags are without quotes. Every method throws StoreError. */
export interface Bucket {
  /** Tries once. @returns the etag */
  put(object: NewObject): Promise<string>
  get(key: string): Promise<{ bytes: Uint8Array; etag: string; writtenAt: Date } | null>
  /** The bytes from `offset` on, at least one and up to `length` of them. */
  getRange(key: string, offset: number, length: number): Promise<Uint8Array | null>
  head(key: string): Promise<{ etag: string; nonce: string | null } | null>
  /** Keys in byte order. */
  list(prefix: string, after: string, limit: number): Promise<string[]>
  remove(key: string): Promise<void>
  /** @throws Error when there is none */
  region(): Promise<string>
  close(): void
}

const SOCKETS = 64
const KEYS_AT_ONCE = 1_000

export function openBucket(settings: S3Settings): Bucket {
  const { bucket: Bucket } = settings
  const client = openClient(settings)
  const before = settings.prefix === '' ? '' : `${settings.prefix}/`

  /** `null` when there is no object. */
  async function fetchObject<Value>(
    key: string,
    range: string | undefined,
    shape: (answer: GetObjectCommandOutput, bytes: Uint8Array) => Value,
  ): Promise<Value | null> {
    const command = { Bucket, Key: before + key, Range: range }
    return await repeat(() =>
      orNull(['NoSuchKey'], () =>
        attempt(`GET ${key}`, 0, async (abortSignal, allow) => {
          const answer = await client.send(new GetObjectCommand(command), { abortSignal })
          return shape(answer, await readBody(answer, allow))
        }),
      ),
    )
  }

  return {
    async put({ key, bytes, type, condition, nonce }) {
      const command = new PutObjectCommand({
        Bucket,
        Key: before + key,
        Body: bytes,
        ContentLength: bytes.length,
        ContentType: type,
        ...conditionHeaders(condition),
        ...(nonce === undefined ? {} : { Metadata: { nonce } }),
      })
      return await attempt(`PUT ${key}`, bytes.length, async abortSignal => {
        return requireEtag(await client.send(command, { abortSignal }))
      })
    },

    async get(key) {
      return await fetchObject(key, undefined, (answer, bytes) => {
        return { bytes, etag: requireEtag(answer), writtenAt: answer.LastModified ?? new Date(0) }
      })
    },

    async getRange(key, offset, length) {
      const last = offset + length - 1
      try {
        return await fetchObject(key, `bytes=${offset}-${Number.isSafeInteger(last) ? last : ''}`, (answer, bytes) => {
          requireEtag(answer)
          // A server that knows no ranges sends the whole.
          return answer.ContentRange === undefined ? bytes.subarray(offset, offset + length) : bytes
        })
      } catch (error) {
        // The object ends before.
        if (error instanceof StoreError && error.status === 416) return new Uint8Array()
        throw error
      }
    },

    async head(key) {
      return await repeat(() =>
        // An answer without a body has no name for what went wrong.
        orNull(['NoSuchKey', 'NotFound'], () =>
          attempt(`HEAD ${key}`, 0, async abortSignal => {
            const answer = await client.send(new HeadObjectCommand({ Bucket, Key: before + key }), { abortSignal })
            return { etag: requireEtag(answer), nonce: answer.Metadata?.nonce ?? null }
          }),
        ),
      )
    },

    async list(prefix, after, limit) {
      const keys: string[] = []
      const beginning = before + prefix
      let last = before + after
      let continuation: string | undefined
      while (keys.length < limit) {
        const command = new ListObjectsV2Command({
          Bucket,
          Prefix: before + prefix,
          ...(after === '' ? {} : { StartAfter: before + after }),
          ...(continuation === undefined ? {} : { ContinuationToken: continuation }),
          MaxKeys: Math.min(KEYS_AT_ONCE, limit - keys.length),
        })
        const page = await repeat(() =>
          attempt(`LIST ${prefix}`, 0, async abortSignal => {
            const { Contents = [], IsTruncated, NextContinuationToken: next } = await client.send(command, { abortSignal })
            const found = Contents.map(({ Key = '' }) => Key)
            // A server that begins anew with every page would be listed for ever.
            if (IsTruncated === undefined || !goesOn(last, found, beginning) || (IsTruncated && next === continuation))
              throw notS3()
            return { found, next: IsTruncated ? next : undefined }
          }),
        )
        for (const key of page.found) keys.push(key.slice(before.length))
        last = page.found.at(-1) ?? last
        if (page.next === undefined) break
        continuation = page.next
      }
      return keys
    },

    async remove(key) {
      const command = new DeleteObjectCommand({ Bucket, Key: before + key })
      await repeat(() => attempt(`DELETE ${key}`, 0, abortSignal => client.send(command, { abortSignal })))
    },

    region: () => client.config.region(),

    close: () => client.destroy(),
  }
}

function openClient({ endpoint, region, credentials }: S3Settings): S3Client {
  return new S3Client({
    // Servers of one's own are rarely reached under a name for each bucket.
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
    ...(region === null ? {} : { region }),
    ...(credentials === null ? {} : { credentials }),
    // The SDK would add checksums that many servers do not understand. Its own variables may ask for them.
    ...(process.env.AWS_REQUEST_CHECKSUM_CALCULATION ? {} : { requestChecksumCalculation: 'WHEN_REQUIRED' as const }),
    ...(process.env.AWS_RESPONSE_CHECKSUM_VALIDATION ? {} : { responseChecksumValidation: 'WHEN_REQUIRED' as const }),
    expectContinueHeader: false,
    // What is repeated, and when, is said in attempts.ts and conditional-put.ts.
    maxAttempts: 1,
    requestHandler: {
      httpAgent: new HttpAgent({ keepAlive: true, maxSockets: SOCKETS }),
      httpsAgent: new HttpsAgent({ keepAlive: true, maxSockets: SOCKETS }),
    },
  })
}

async function readBody({ Body, ContentLength }: GetObjectCommandOutput, allow: Allow): Promise<Uint8Array> {
  allow(ContentLength ?? 0)
  const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array()
  if (ContentLength !== undefined && bytes.length !== ContentLength)
    throw Object.assign(new Error('the body broke off'), { code: 'BODY_BROKE_OFF' })
  return bytes
}

function conditionHeaders(condition: Condition | undefined): Pick<PutObjectCommandInput, 'IfMatch' | 'IfNoneMatch'> {
  if (condition === undefined) return {}
  if (condition === 'absent') return { IfNoneMatch: '*' }
  return { IfMatch: condition.form === 'quoted' ? `"${condition.etag}"` : condition.etag }
}

/** Whether keys that begin so follow one another, and the last one before them, in byte order. */
function goesOn(last: string, keys: readonly string[], beginning: string): boolean {
  return keys.every((key, index) => key.startsWith(beginning) && compareBytes(keys[index - 1] ?? last, key) < 0)
}

function notS3(): Error {
  return Object.assign(new Error('the answer is not that of an object store'), { code: 'STRANGE_ANSWER' })
}

/** Without its quotes. Whoever stands between and answers in place of the store, with a page, gives none. */
function requireEtag({ ETag }: { ETag?: string | undefined }): string {
  const etag = ETag?.replace(/^(?:W\/)?"(.*)"$/, '$1')
  if (!etag) throw notS3()
  return etag
}

async function orNull<Value>(codes: readonly string[], ask: () => Promise<Value>): Promise<Value | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof StoreError && error.status === 404 && codes.includes(error.code)) return null
    throw error
  }
}
