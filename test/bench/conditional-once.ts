import { testApp } from '#test/support/test-app.ts'
import { generate } from './repositories.ts'

/**
 * `node conditional-once.ts <host>`: serves a generated repository on a port of this machine for the process that forked it. It sends its origin
 * and the address first, and then the time of the processor that it has used, in microseconds, whenever it is sent anything.
 */
const host = process.argv[2] === 'gh' ? 'gh' : 'local'
const app = await testApp({}, host === 'gh' ? { github: { withToken: true } } : {})
const { owner, name } = generate(app.repositories.root, 'conditional-1000', 1_000)
const address = `/${host}/${owner}/${name}`
await app.open(address)
const origin = await app.app.listen({ host: '127.0.0.1', port: 0 })
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})
process.once('disconnect', () => void app.close())
process.send?.({ origin, address })
