import { inject } from 'vitest'
import { SERVERS } from '../../../scripts/servers/servers.mjs'
import { isInstalled } from '../../../scripts/servers/supervise.mjs'

export type ServerName = keyof typeof SERVERS

/** Whether tests with this server can run here. They are left out where not, and the run says so before it begins. */
export function hasServer(name: ServerName): boolean {
  return isInstalled(SERVERS[name])
}

/** The settings that use a server of this machine. It is started when the first test of a run asks, and the whole run shares it. */
export async function testServer(name: ServerName): Promise<Record<string, string>> {
  const answer = await fetch(`${inject('serversUrl')}/${name}`)
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()) as Record<string, string>
}
