import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { SERVERS } from '../../../scripts/servers/servers.mjs'

declare module 'vitest' {
  interface ProvidedContext {
    /** Whom `testServer` asks. */
    serversUrl: string
  }
}

const PROGRAM = fileURLToPath(new URL('../../../scripts/test-server.mjs', import.meta.url))

/**
 * Answers the tests of a run where its servers are. One is started when the first test asks for it, so that a run without such
 * tests pays nothing, and all end with the run: a server ends as soon as nobody holds the other end of its standard input.
 */
export default async function serveServers(project: TestProject): Promise<() => Promise<void>> {
  const running = new Map<string, Promise<Running>>()
  const door = createServer((request, response) => {
    const name = request.url?.slice(1) ?? ''
    const server = running.get(name) ?? (name in SERVERS ? startServer(name) : Promise.reject(new Error(`no server ${name}`)))
    running.set(name, server)
    server.then(
      ({ env }) => response.end(JSON.stringify(env)),
      (error: Error) => response.writeHead(500).end(error.message),
    )
  })
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  project.provide('serversUrl', `http://127.0.0.1:${(door.address() as AddressInfo).port}`)

  return async () => {
    door.close()
    for (const server of running.values()) await server.then(stopServer, () => {})
  }
}

interface Running {
  env: Record<string, string>
  child: ChildProcess
}

async function startServer(name: string): Promise<Running> {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-server-'))
  // Out of the group of this process: Ctrl-C at a terminal is for the run, whose end then ends the server.
  const child = spawn(process.execPath, [PROGRAM, 'serve', name, folder], { detached: true, stdio: 'pipe' })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', text => (errors += text))
  return await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', line => resolve({ env: JSON.parse(line), child }))
    child.once('error', reject)
    child.once('close', () => reject(new Error(`the server ${name} did not start: ${errors}`)))
  })
}

async function stopServer({ child }: Running): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  child.stdin?.end()
  await closed
}
