import { expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.mjs'

test.runIf(process.platform === 'linux')('no port is given twice, although nobody listens there yet', async () => {
  const ports: number[] = []
  // Of so many out of twelve thousand, some would be the same.
  for (let number = 0; number < 600; number++) ports.push(await freePort())
  expect(new Set(ports).size).toBe(ports.length)
})
