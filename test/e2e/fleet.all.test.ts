import { describe, expect, onTestFinished, test } from 'vitest'
import { runFleet } from '#test/soak/fleet.ts'
import { hasServer, testServer } from '#test/support/servers/servers.ts'

// The short form of `npm run soak -- --only fleet`.

describe.runIf(hasServer('s3') && hasServer('postgres'))('two replicas and two workers over a bucket and a database', () => {
  test('give the answers of a single process, byte for byte, although their workers are killed', async () => {
    const report = await runFleet(testServer, { addresses: 40, kills: 4, seed: 1, corpus: null }, onTestFinished)
    expect(report.problems).toEqual([])
    expect(report.interrupted).toBeGreaterThan(0)
    expect(report.compared).toBeGreaterThan(200)
  })
})
