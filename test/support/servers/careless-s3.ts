import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How a server treats the conditions of a write. Some of those that speak S3 are like this; the gateway of the tests is `bare`. */
export interface Habits {
  ifNoneMatch: 'kept' | 'ignored' | 'not implemented'
  /** Which form of the right etag it takes; `refused`: none. */
  ifMatch: 'quoted' | 'bare' | 'both' | 'ignored' | 'refused' | 'not implemented'
}

export interface CarelessS3 {
  url: string
  /** Methods of all requests. */
  readonly requests: readonly string[]
  objects: ReadonlyMap<string, Buffer>
  close(): Promise<void>
}

/** Objects by path, whoever asks. */
export async function startCarelessS3({ ifNoneMatch, ifMatch }: Habits): Promise<CarelessS3> {
  const objects = new Map<string, Buffer>()
  const requests: string[] = []

  function refusal(path: string, headers: Record<string, unknown>): number | null {
    const { 'if-none-match': absent, 'if-match': version } = headers
    if (absent !== undefined) {
      if (ifNoneMatch === 'not implemented') return 501
      return ifNoneMatch === 'kept' && objects.has(path) ? 412 : null
    }
    if (version === undefined || ifMatch === 'ignored') return null
    if (ifMatch === 'not implemented') return 501
    const etag = etagOf(objects.get(path))
    const forms = { quoted: [`"${etag}"`], bare: [etag], both: [`"${etag}"`, etag], refused: [] as string[] }
    return forms[ifMatch].includes(String(version)) ? null : 412
  }

  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '', 'http://s3').pathname
    const body = Buffer.concat(await request.toArray())
    requests.push(request.method ?? '')
    const found = objects.get(path)
    if (request.method === 'PUT') {
      const status = refusal(path, request.headers)
      if (status !== null) return void response.writeHead(status).end()
      objects.set(path, body)
      response.writeHead(200, { etag: `"${etagOf(body)}"` }).end()
    } else if (request.method === 'DELETE') {
      objects.delete(path)
      response.writeHead(204).end()
    } else if (found === undefined) {
      response.writeHead(404).end(request.method === 'GET' ? '<Error><Code>NoSuchKey</Code></Error>' : '')
    } else {
      response.writeHead(200, { etag: `"${etagOf(found)}"` }).end(request.method === 'GET' ? found : '')
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    objects,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function etagOf(bytes: Buffer | undefined): string {
  return createHash('md5')
    .update(bytes ?? '')
    .digest('hex')
}
