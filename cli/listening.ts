import { createServer } from 'node:net'
import { type ListenAddress, originAt } from '#core/settings.ts'
import { type ProblemKey, SentenceError, sentence } from '#core/words/sentence.ts'
import { parseSettings } from './service-settings.ts'

/** Resolves `PORT=0` to a free port before the start, because links to this process contain the port. */
export async function withPort(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const { host, port } = parseSettings(env)
  return port === 0 ? { ...env, PORT: String(await findFreePort(host)) } : env
}

function findFreePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', error => reject(toStartError(error, { host, port: 0 })))
    server.listen(0, host, () => {
      const address = server.address()
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : 0))
    })
  })
}

/** What the system says when it does not let this process listen. */
const LISTEN_PROBLEMS: Readonly<Record<string, ProblemKey>> = { EADDRINUSE: 'portTaken', EACCES: 'portForbidden' }

/** The sentence for an address on which this process cannot listen. Other errors stay as they are. */
export function toStartError(error: unknown, address: ListenAddress): unknown {
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException
  if (!['listen', 'bind', 'getaddrinfo'].includes(syscall)) return error
  const place = originAt(address).slice('http://'.length)
  return new SentenceError(sentence(LISTEN_PROBLEMS[code] ?? 'hostUnknown', { place, code }), { cause: error })
}
