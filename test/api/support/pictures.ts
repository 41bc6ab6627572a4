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

/** A picture that is shown. Its headers are in `picture-headers.test.ts`. */
export async function shownPicture(at: Pick<TestApp, 'app'>, url: string, headers?: Record<string, string>): Promise<Picture> {
  const picture = await getPicture(at, url, headers)
  expect([picture.status, url], picture.bytes.toString('latin1').slice(0, 200)).toEqual([200, url])
  return picture
}

/** What an address without a picture is answered: the same for whatever is wrong with it. */
export async function expectNoPicture(at: Pick<TestApp, 'app'>, url: string): Promise<void> {
  const { status, bytes } = await getPicture(at, url)
  expect([status, bytes.toString(), url]).toEqual([404, 'not found\n', url])
}
