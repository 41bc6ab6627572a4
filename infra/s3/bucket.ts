import http from 'node:http'
import https from 'node:https'
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
import type { ListOptions } from '#core/ports/blob-store.ts'
import { requireCount, requirePrefix } from '#core/ports/store-arguments.ts'
import { compareBytes } from '#core/text.ts'
import { type Allow, ANSWER_MS, attempt, repeat } from './attempts.ts'
import { StoreError } from './store-error.ts'

/** Location of a bucket, and the credentials for it. `null`: the default of the SDK. */
export interface S3Settings {
  bucket: string
  /** Prepended to every key with a slash; without a slash at its ends. Empty: none. */
  prefix: string
  /** `null`: AWS. */
  endpoint: string | null
  region: string | null
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | null
  /** The variable that names the proxy through which the bucket is asked; `null`: it is asked directly. */
  proxyVariable?: string | null
  /** How long an answer is waited for, without the time for its bytes. For tests. Default: `ANSWER_MS`. */
  answerMs?: number
}

/** How a server expects the etag in a condition: with quotes, as HTTP says, or without. */
export type EtagForm = 'quoted' | 'bare'

/** Condition of a write: the key is absent, or has the version of the etag. */
export type Condition = 'absent' | { etag: string; form: EtagForm }

export interface NewObject {
  key: string
  bytes: Uint8Array
  type: 'application/octet-stream' | 'application/json'
  condition?: Condition
  /** Stored in the metadata of the object. */
  nonce?: string
}

/** Requests to one bucket. Reads, listings and removals are retried. Etags are without quotes. Every method throws StoreError. */
export interface Bucket {
  /** Not retried. @returns the etag */
  put(object: NewObject): Promise<string>
  get(key: string): Promise<{ bytes: Uint8Array; etag: string; writtenAt: Date } | null>
  /** At most `length` bytes from `offset` on. @param length at least 1 */
  getRange(key: string, offset: number, length: number): Promise<Uint8Array | null>
  head(key: string): Promise<{ etag: string; nonce: string | null } | null>
  /** At most `limit` keys that follow `after`, in byte order. */
  list(prefix: string, after: string, limit: number): Promise<string[]>
  remove(key: string): Promise<void>
  /** @throws Error when no region is configured */
  region(): Promise<string>
  close(): void
}

const SOCKETS = 64
const KEYS_AT_ONCE = 1_000

export function openBucket(settings: S3Settings): Bucket {
  return new S3Bucket(settings)
}

interface ListPosition {
  prefix: string
  after: string
  limit: number
  /** The last key listed, or `after`. Both with the prefix of the bucket. */
  last: string
  continuation: string | undefined
}

class S3Bucket implements Bucket {
  readonly #bucket: string
  readonly #client: S3Client
  /** Prefix of every key. */
  readonly #prefix: string
  readonly #answerMs: number

  constructor(settings: S3Settings) {
    this.#answerMs = settings.answerMs ?? ANSWER_MS
    this.#bucket = settings.bucket
    this.#client = openClient(settings)
    this.#prefix = settings.prefix === '' ? '' : `${settings.prefix}/`
  }

  async put({ key, bytes, type, condition, nonce }: NewObject): Promise<string> {
    const command = new PutObjectCommand({
      ...this.#place(key),
      Body: bytes,
      ContentLength: bytes.length,
      ContentType: type,
      ...conditionHeaders(condition),
      ...(nonce === undefined ? {} : { Metadata: { nonce } }),
    })
    return await this.#attempt(`PUT ${key}`, bytes.length, async abortSignal => {
      return requireEtag(await this.#client.send(command, { abortSignal }))
    })
  }

  async get(key: string): Promise<{ bytes: Uint8Array; etag: string; writtenAt: Date } | null> {
    return await this.#fetch(key, undefined, (answer, bytes) => {
      return { bytes, etag: requireEtag(answer), writtenAt: answer.LastModified ?? new Date(0) }
    })
  }

  async getRange(key: string, offset: number, length: number): Promise<Uint8Array | null> {
    const last = offset + length - 1
    try {
      return await this.#fetch(key, `bytes=${offset}-${Number.isSafeInteger(last) ? last : ''}`, (answer, bytes) => {
        requireEtag(answer)
        // A server without support for ranges sends the whole object.
        return answer.ContentRange === undefined ? bytes.subarray(offset, offset + length) : bytes
      })
    } catch (error) {
      // Range Not Satisfiable: the object ends before `offset`.
      if (error instanceof StoreError && error.status === 416) return new Uint8Array()
      throw error
    }
  }

  async head(key: string): Promise<{ etag: string; nonce: string | null } | null> {
    return await repeat(() =>
      // An answer to HEAD has no body, so the SDK may not know the code.
      orNull(['NoSuchKey', 'NotFound'], () =>
        this.#attempt(`HEAD ${key}`, 0, async abortSignal => {
          const answer = await this.#client.send(new HeadObjectCommand(this.#place(key)), { abortSignal })
          return { etag: requireEtag(answer), nonce: answer.Metadata?.nonce ?? null }
        }),
      ),
    )
  }

  async list(prefix: string, after: string, limit: number): Promise<string[]> {
    const keys: string[] = []
    let last = this.#prefix + after
    let continuation: string | undefined
    while (keys.length < limit) {
      const page = await this.#listPage({ prefix, after, limit: limit - keys.length, last, continuation })
      for (const key of page.found) keys.push(key.slice(this.#prefix.length))
      last = page.found.at(-1) ?? last
      if (page.next === undefined) break
      continuation = page.next
    }
    return keys
  }

  async remove(key: string): Promise<void> {
    const command = new DeleteObjectCommand(this.#place(key))
    await repeat(() => this.#attempt(`DELETE ${key}`, 0, abortSignal => this.#client.send(command, { abortSignal })))
  }

  region(): Promise<string> {
    return this.#client.config.region()
  }

  close(): void {
    this.#client.destroy()
  }

  #attempt<Value>(request: string, uploadBytes: number, ask: Parameters<typeof attempt<Value>>[2]): Promise<Value> {
    return attempt(request, { uploadBytes, answerMs: this.#answerMs }, ask)
  }

  #place(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + key }
  }

  /** `null` when there is no object. */
  async #fetch<Value>(
    key: string,
    range: string | undefined,
    shape: (answer: GetObjectCommandOutput, bytes: Uint8Array) => Value,
  ): Promise<Value | null> {
    const command = { ...this.#place(key), Range: range }
    return await repeat(() =>
      orNull(['NoSuchKey'], () =>
        this.#attempt(`GET ${key}`, 0, async (abortSignal, allow) => {
          const answer = await this.#client.send(new GetObjectCommand(command), { abortSignal })
          return shape(answer, await readBody(answer, allow))
        }),
      ),
    )
  }

  /** One page of a listing. `next`: the token of the next page. */
  async #listPage(position: ListPosition): Promise<{ found: string[]; next: string | undefined }> {
    const { prefix, after, limit, last, continuation } = position
    const command = new ListObjectsV2Command({
      Bucket: this.#bucket,
      Prefix: this.#prefix + prefix,
      ...(after === '' ? {} : { StartAfter: this.#prefix + after }),
      ...(continuation === undefined ? {} : { ContinuationToken: continuation }),
      MaxKeys: Math.min(KEYS_AT_ONCE, limit),
    })
    return await repeat(() =>
      this.#attempt(`LIST ${prefix}`, 0, async abortSignal => {
        const { Contents = [], IsTruncated, NextContinuationToken: next } = await this.#client.send(command, { abortSignal })
        const found = Contents.map(({ Key = '' }) => Key)
        // Without these checks, a server that restarts with every page would be listed forever.
        if (
          IsTruncated === undefined ||
          !isContinued(last, found, this.#prefix + prefix) ||
          (IsTruncated && next === continuation)
        )
          throw notS3()
        return { found, next: IsTruncated ? next : undefined }
      }),
    )
  }
}

function openClient({ endpoint, region, credentials }: S3Settings): S3Client {
  return new S3Client({
    // Self-hosted servers rarely have a host name for each bucket.
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
    ...(region === null ? {} : { region }),
    ...(credentials === null ? {} : { credentials }),
    // By default the SDK adds checksums that many servers reject. Its own variables can turn them on.
    ...(process.env.AWS_REQUEST_CHECKSUM_CALCULATION ? {} : { requestChecksumCalculation: 'WHEN_REQUIRED' as const }),
    ...(process.env.AWS_RESPONSE_CHECKSUM_VALIDATION ? {} : { responseChecksumValidation: 'WHEN_REQUIRED' as const }),
    expectContinueHeader: false,
    // Retries are in attempts.ts and conditional-put.ts.
    maxAttempts: 1,
    requestHandler: {
      httpAgent: new http.Agent(agentOptions(http.globalAgent)),
      httpsAgent: new https.Agent(agentOptions(https.globalAgent)),
    },
  })
}

/** An agent goes through the proxies that the requests of this process go through. */
function agentOptions(usual: object): https.AgentOptions {
  const { proxyEnv } = (usual as https.Agent).options
  return { keepAlive: true, maxSockets: SOCKETS, ...(proxyEnv && { proxyEnv }) }
}

async function readBody({ Body, ContentLength }: GetObjectCommandOutput, allow: Allow): Promise<Uint8Array> {
  allow(ContentLength ?? 0)
  const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array()
  if (ContentLength !== undefined && bytes.length !== ContentLength)
    throw Object.assign(new Error(`the body has ${bytes.length} of ${ContentLength} bytes`), { code: 'BODY_BROKE_OFF' })
  return bytes
}

function conditionHeaders(condition: Condition | undefined): Pick<PutObjectCommandInput, 'IfMatch' | 'IfNoneMatch'> {
  if (condition === undefined) return {}
  if (condition === 'absent') return { IfNoneMatch: '*' }
  return { IfMatch: condition.form === 'quoted' ? `"${condition.etag}"` : condition.etag }
}

/** Whether all keys have the prefix and follow `last` in byte order. */
function isContinued(last: string, keys: readonly string[], prefix: string): boolean {
  return keys.every((key, index) => key.startsWith(prefix) && compareBytes(keys[index - 1] ?? last, key) < 0)
}

function notS3(): Error {
  return Object.assign(new Error('the answer is not one of an S3 server'), { code: 'STRANGE_ANSWER' })
}

/** The etag without its quotes. @throws Error when there is none: a proxy answered in place of the server */
function requireEtag({ ETag }: { ETag?: string | undefined }): string {
  const etag = ETag?.replace(/^(?:W\/)?"(.*)"$/, '$1')
  if (!etag) throw notS3()
  return etag
}

/** `null` for a 404 with one of the codes. A 404 with another code, such as NoSuchBucket, is thrown. */
async function orNull<Value>(codes: readonly string[], ask: () => Promise<Value>): Promise<Value | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof StoreError && error.status === 404 && codes.includes(error.code)) return null
    throw error
  }
}

/** `list` of both stores. */
export async function listKeys(bucket: Bucket, prefix: string, { after = '', limit }: ListOptions = {}): Promise<string[]> {
  requirePrefix(prefix)
  if (limit !== undefined) requireCount('limit', limit)
  return await bucket.list(prefix, after, limit ?? Number.POSITIVE_INFINITY)
}
