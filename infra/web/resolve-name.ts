import { Resolver } from 'node:dns/promises'

/** Of one question to a name server. */
const QUESTION_MS = 2_000

/**
 * The addresses of a name, asked by this process itself. The look-up of the operating system waits in a thread of a pool that connections to
 * the store and the git host need, too: names whose servers do not answer would hold it for minutes.
 *
 * @param signal ends the questions
 * @param servers default: those of the machine
 * @throws Error when no server tells any address
 */
export async function resolveName(hostname: string, signal: AbortSignal, servers?: readonly string[]): Promise<string[]> {
  signal.throwIfAborted()
  const resolver = new Resolver({ timeout: QUESTION_MS, tries: 2 })
  if (servers) resolver.setServers(servers)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    // A name may have addresses of one kind alone.
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length === 0 && answers[0].status === 'rejected') throw answers[0].reason
    return addresses
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}
