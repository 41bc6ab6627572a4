import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { UnansweredError } from '#cli/answers.ts'
import { remoteAnswers } from '#cli/remote-answers.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const ask = async (baseUrl: string, token: string | null = null) =>
  await remoteAnswers({ baseUrl, token })
    .get('mounts', '/gh/acme/tools', {})
    .then(
      () => null,
      (error: unknown) => {
        if (error instanceof UnansweredError) return error
        throw error
      },
    )
const errorBody = (code: string) => JSON.stringify({ error: { code, message: 'why' } })

test('a repository is missing if the service says so', async () => {
  const baseUrl = await serve((_request, response) => response.writeHead(404).end(errorBody('mount.repo_not_found')))
  expect(await ask(baseUrl)).toMatchObject({ code: 'mount.repo_not_found', isGone: true })
})

test.each([
  ['a page of something else', 404, '<h1>Not Found</h1>'],
  ['a service at another path', 404, errorBody('request.not_found')],
  ['JSON of something else', 200, '{"hello":"world"}'],
])('%s proves nothing about the repository', async (_what, status, body) => {
  const baseUrl = await serve((_request, response) => response.writeHead(status).end(body))
  expect(await ask(baseUrl)).toMatchObject({ code: 'service.not_mountglass', isGone: false })
})

test('a redirect is not followed, and the token stays with the service', async () => {
  const seen: unknown[] = []
  const elsewhere = await serve((request, response) => {
    seen.push(request.headers.authorization)
    response.writeHead(404).end(errorBody('mount.repo_not_found'))
  })
  const baseUrl = await serve((request, response) => {
    seen.push(request.headers.authorization)
    response.writeHead(302, { location: `${elsewhere}${request.url}` }).end()
  })
  expect(await ask(baseUrl, 'mgp_secret')).toMatchObject({ code: 'service.not_mountglass', isGone: false })
  expect(seen).toEqual(['Bearer mgp_secret'])
})

test('a busy service is asked again, and one that stays busy could not be asked', async () => {
  let asked = 0
  const baseUrl = await serve((_request, response) => {
    asked++
    response.writeHead(503, { 'retry-after': '0' }).end(errorBody('mount.rate_limited'))
  })
  expect(await ask(baseUrl)).toMatchObject({ code: 'mount.rate_limited', isGone: false })
  expect(asked).toBe(5)
})

test('a service that does not answer could not be asked', async () => {
  const baseUrl = await serve((request, _response) => request.socket.destroy())
  expect(await ask(baseUrl)).toMatchObject({ code: 'service.unreachable', isGone: false })
})
