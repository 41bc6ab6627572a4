import { execFileSync } from 'node:child_process'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A packet of git's protocol (pkt-line). */
export const packet = (text: string): string => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`

/** Answers every request to upload-pack so; `closing`: and no second one of a connection. */
export async function answering(body: string | Buffer, headers: Record<string, string> = {}, status = 200) {
  const requests: IncomingMessage[] = []
  const host = { remote: { url: '', authorization: 'Basic c2VjcmV0' }, requests, closing: false, close: async () => {} }
  const used = new Set<object>()
  const server = createServer((request, response) => {
    requests.push(request)
    if (host.closing && used.has(request.socket)) return void request.socket.destroy()
    used.add(request.socket)
    request.resume().once('end', () => {
      response.writeHead(status, { 'content-type': 'application/x-git-upload-pack-result', ...headers }).end(body)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  host.remote.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/acme/tools.git`
  host.close = async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
  return host
}

/** The processes that write what is fetched into a folder of git, by their ids. */
export function writersIn(gitDir: string): string[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,stat=,args='], { encoding: 'utf8' }).split('\n')
  const running = lines.map(line => line.trim().split(/\s+/)).filter(([, state]) => !state?.startsWith('Z'))
  return running.flatMap(([pid = '', , ...args]) => (args.includes('index-pack') && args.join(' ').includes(gitDir) ? [pid] : []))
}
