import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { Network } from '#infra/web-documents.ts'

const TLS = join(import.meta.dirname, 'tls')
/** For `client.example`, `other.example`, `slow.example` and the names below it, valid until 2126. */
const certificate = readFileSync(join(TLS, 'certificate.pem'))
const key = readFileSync(join(TLS, 'key.pem'))

/** An address of the public internet, which a test has names resolve to. */
export const PUBLIC_ADDRESS = '93.184.215.14'

/** The web as a test has it: names resolve to what it says, and every public address is one server of this machine. */
export interface TestWeb extends Network {
  /** Targets of the requests that arrived. */
  asked: string[]
  /** Addresses that connections were made to. */
  connected: string[]
}

export type Answering = (request: IncomingMessage, response: ServerResponse) => void

/** Until the end of the test. @param names addresses by name; others are public */
export async function testWeb(answer: Answering, names: Readonly<Record<string, readonly string[]>> = {}): Promise<TestWeb> {
  const { close, ...web } = await openTestWeb(answer, names)
  onTestFinished(close)
  return web
}

/** As `testWeb`, until it is closed. */
export async function openTestWeb(
  answer: Answering,
  names: Readonly<Record<string, readonly string[]>> = {},
): Promise<TestWeb & { close(): void }> {
  const asked: string[] = []
  const connected: string[] = []
  const server = createServer({ key, cert: certificate }, (request, response) => {
    asked.push(request.url ?? '')
    answer(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    asked,
    connected,
    close() {
      server.closeAllConnections()
      server.close()
    },
    resolve: async hostname => names[hostname] ?? [PUBLIC_ADDRESS],
    connect(address, servername) {
      connected.push(address)
      return connect({ host: '127.0.0.1', port, servername, ca: certificate, ALPNProtocols: ['http/1.1'] })
    },
  }
}
