import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from '#test/support/service.ts'
import { openSignInScene, type SignInScene } from '#test/support/signed-in.ts'
import { freePort } from '../../scripts/servers/free-port.mjs'
import { ensureBuilt } from '../site/support/built-site.ts'
import { openPerson, type Person } from './person.ts'

/*
 * What the conformance suite of the protocol's authors asks of an authorization server. It prints where a browser is to go, and waits for it.
 */

const SUITE = join(import.meta.dirname, '..', '..', 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js')
let scene: SignInScene
let service: Service
let person: Person
beforeAll(async () => {
  await ensureBuilt()
  scene = await openSignInScene()
  service = await startService(scene.settings)
  person = await openPerson(service.baseUrl, () => scene.signIn(service.baseUrl))
})
afterAll(async () => {
  await person?.close()
  await service?.stop()
  await scene?.close()
})

/** An app that may be called back at this port. @returns its id */
async function register(port: number): Promise<string> {
  const answer = await fetch(`${service.baseUrl}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Conformance', redirect_uris: [`http://127.0.0.1:${port}/callback`] }),
  })
  return ((await answer.json()) as { client_id: string }).client_id
}

/** Runs the suite, and `visit` for the address that it prints once it waits to be called back. @returns what it printed */
async function runSuite(args: readonly string[], visit: (location: URL) => Promise<void>): Promise<string> {
  const child = spawn(process.execPath, [SUITE, 'authorization', ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let visited: Promise<void> | null = null
  async function visitOrEnd(location: URL): Promise<void> {
    try {
      await visit(location)
    } catch (error) {
      child.kill()
      throw error
    }
  }
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output += chunk
      const location = /^http\S+\/oauth\/authorize\?\S+$/m.exec(output)?.[0]
      if (location !== undefined && output.includes('Callback server started')) visited ??= visitOrEnd(new URL(location))
    })
  await new Promise<void>(resolve => child.once('close', () => resolve()))
  await visited
  return output
}

test.each(['2025-11-25', '2026-07-28'])('an authorization server as the suite of %s requires', async revision => {
  const port = await freePort()
  const resource = `${service.baseUrl}/mcp${scene.address}`
  const app = ['--client-id', await register(port), '--port', String(port), '--resource', resource]
  const output = await runSuite(['--url', service.baseUrl, ...app, '--spec-version', revision], async location => {
    await person.decide(location)
  })
  expect(output).toContain('authorization-server-metadata-endpoint: 2 passed, 0 failed')
  expect(output).toContain('authorization-code-grant: 1 passed, 0 failed')
})
