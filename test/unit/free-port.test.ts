import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'

const MODULE = new URL('../../scripts/servers/free-port.mjs', import.meta.url).href
const PORTS = 400

/** A process that looks for many ports, and then lives on. @returns the ports */
async function portsOfAnother(): Promise<string[]> {
  const program = `
    import { freePort } from ${JSON.stringify(MODULE)}
    const ports = await Promise.all(Array.from({ length: ${PORTS} }, () => freePort()))
    process.stdout.write(ports.join() + '\\n')
    process.stdin.resume()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let told = ''
  while (!told.endsWith('\n')) told += (await once(child.stdout, 'data')).join('')
  return told.trim().split(',')
}

test('a port is given once while its process lives, to any number of processes', async () => {
  const ports = [...(await portsOfAnother()), ...(await portsOfAnother())]
  expect(ports).toHaveLength(2 * PORTS)
  expect(new Set(ports).size).toBe(2 * PORTS)
})
