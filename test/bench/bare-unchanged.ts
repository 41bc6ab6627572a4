import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * `node bare-unchanged.ts <headers as JSON>`: a bare server of Node that answers every request with 304 and these headers, for the process that
 * forked it: nothing that a service does comes on top. It speaks with that process as `conditional-once.ts` does.
 */
const headers = Object.entries(JSON.parse(process.argv[2] ?? '{}') as Record<string, string>).flat()
const server = createServer({ optimizeEmptyRequests: true }, (_request, response) => response.writeHead(304, headers).end())
server.listen(0, '127.0.0.1', () => {
  process.send?.({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})
process.once('disconnect', () => process.exit())
