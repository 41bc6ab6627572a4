import { accessTo } from './access.ts'
import type { Credential } from './credentials.ts'
import { findBlob, readBlob, resolveRef } from './git.ts'
import { decodeSegment, escapeHtml, type FakeAnswer, type FakeRequest, pageAnswer, redirectAnswer, textAnswer } from './http.ts'
import type { Origins } from './kinds.ts'
import type { World } from './world.ts'

const MISSING: FakeAnswer = textAnswer(404, '404: Not Found')

/** `raw.githubusercontent.com/<owner>/<name>/<commit or ref>/<path>`. */
export async function answerRaw(world: World, request: FakeRequest, credential: Credential): Promise<FakeAnswer> {
  const [, owner = '', name = '', ref = '', ...path] = request.path.split('/').map(segment => decodeSegment(segment) ?? '')
  const repository = await world.repository(owner, name)
  if (!repository || accessTo(world, credential, repository, 'contents') !== 'granted') return MISSING
  const resolved = await resolveRef(world, repository, ref)
  const blob = resolved.status === 'ok' ? await findBlob(world, repository, resolved.commit, path.join('/')) : null
  if (!blob) return MISSING
  const bytes = await readBlob(world, repository, blob.oid)
  return {
    status: 200,
    headers: {
      'content-type': bytes.includes(0) ? 'application/octet-stream' : 'text/plain; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'max-age=300',
      etag: `W/"${blob.oid}"`,
    },
    body: bytes,
  }
}

/** Pages of `github.com`: little more than that they are there. Signing in to them is not part of the stand-in. */
export async function answerPage(world: World, origins: Origins, request: FakeRequest): Promise<FakeAnswer> {
  const [, owner = '', name, kind, ...rest] = request.path.split('/').map(segment => decodeSegment(segment) ?? '')
  const missing = pageAnswer(404, 'Not Found', '')
  if (name === undefined || name === '') {
    const account = await world.account(owner)
    return account ? pageAnswer(200, account.name ?? account.login, `<p>${escapeHtml(account.bio ?? '')}</p>`) : missing
  }
  const repository = (await world.repository(owner, name)) ?? world.renamed(owner, name)
  if (repository?.visibility !== 'public') return missing
  const address = `${repository.owner.login}/${repository.name}`
  if (kind === 'raw') {
    const path = [address, ...rest.map(encodeURIComponent)].join('/')
    return redirectAnswer(`${origins.raw}/${path}`)
  }
  if (repository.owner.login !== owner || repository.name !== name) return redirectAnswer(`${origins.web}/${address}`, 301)
  if (repository.blocked !== null) return pageAnswer(451, 'Repository unavailable', '')
  return pageAnswer(200, address, `<p>${escapeHtml(repository.description ?? '')}</p>`)
}
