import { expect } from 'vitest'
import type { TestApp } from '#test/support/test-app.ts'

/** Header of a request or an answer; `undefined` stands for none. */
type Headers = Record<string, string | undefined>

export interface Picture {
  status: number
  headers: Headers
  bytes: Buffer
}

export async function getPicture(
  at: Pick<TestApp, 'app'>,
  url: string,
  headers: Record<string, string> = {},
  method: 'GET' | 'HEAD' = 'GET',
): Promise<Picture> {
  const answer = await at.app.inject({ method, url, headers })
  return { status: answer.statusCode, headers: answer.headers as Headers, bytes: answer.rawPayload }
}

/** The headers that every picture has. */
const COMMON: Headers = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'set-cookie': undefined,
}

/** A 200 with the promised headers, and everything that follows from them: HEAD, 304, ranges, and no notice of who asks. */
export async function expectPicture(
  at: Pick<TestApp, 'app'>,
  url: string,
  expected: { type: string; cache: string; vary?: string; etag?: RegExp },
): Promise<Picture> {
  const whole = await getPicture(at, url)
  expect([whole.status, url], whole.bytes.toString('latin1').slice(0, 200)).toEqual([200, url])
  const { bytes, headers } = whole
  const promised: Headers = {
    ...COMMON,
    'content-type': expected.type,
    'cache-control': expected.cache,
    'accept-ranges': 'bytes',
    'content-length': String(bytes.length),
    vary: expected.vary,
  }
  for (const [name, value] of Object.entries(promised)) expect(headers[name], `${url}: ${name}`).toBe(value)
  const etag = headers.etag ?? ''
  expect(etag).toMatch(expected.etag ?? /^"[0-9a-f]{32}"$/)

  const head = await getPicture(at, url, {}, 'HEAD')
  expect([head.status, head.bytes.length, head.headers['content-length']]).toEqual([200, 0, String(bytes.length)])
  const unchanged = await getPicture(at, url, { 'if-none-match': etag })
  expect([unchanged.status, unchanged.bytes.length]).toEqual([304, 0])
  for (const name of ['cache-control', 'etag', 'vary'] as const) expect(unchanged.headers[name]).toBe(headers[name])
  const part = await getPicture(at, url, { range: 'bytes=2-5' })
  expect([part.status, part.headers['content-range']]).toEqual([206, `bytes 2-5/${bytes.length}`])
  expect(part.bytes.equals(bytes.subarray(2, 6))).toBe(true)
  const beyond = await getPicture(at, url, { range: `bytes=${bytes.length}-` })
  expect([beyond.status, beyond.headers['content-range']]).toEqual([416, `bytes */${bytes.length}`])
  for (const who of [{ cookie: '__Host-session=mgs_a' }, { cookie: 'b=c', authorization: 'Bearer mgt_x' }] as Record<
    string,
    string
  >[]) {
    const theirs = await getPicture(at, url, who)
    expect([theirs.status, theirs.headers.etag, theirs.bytes.equals(bytes)]).toEqual([200, etag, true])
  }
  return whole
}

/** What an address without a picture is answered: the same for whatever is wrong with it. */
export async function expectNoPicture(at: Pick<TestApp, 'app'>, url: string): Promise<void> {
  const { status, headers, bytes } = await getPicture(at, url)
  expect([status, bytes.toString(), url]).toEqual([404, 'not found\n', url])
  const promised = { ...COMMON, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', etag: undefined }
  for (const [name, value] of Object.entries(promised)) expect(headers[name], `${url}: ${name}`).toBe(value)
}
