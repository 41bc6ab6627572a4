import { describe, expect, onTestFinished, test } from 'vitest'
import { runFaults } from '#test/soak/faults.ts'
import { BAD_LINE } from '#test/soak/place.ts'
import { hasServer, testServer } from '#test/support/servers/servers.ts'

// The short form of `npm run soak -- --only faults`.

describe.runIf(hasServer('s3'))('the API over a bucket whose line is bad', () => {
  test('every answer is right or reports that the store cannot be read, and every repository is ready at last', async () => {
    const report = await runFaults(testServer, { ...BAD_LINE, seed: 1, most: 25, corpus: null }, onTestFinished)
    expect(report.problems).toEqual([])
    expect(report.requests).toBeGreaterThan(150)
    expect(report.furtherPages).toBeGreaterThan(20)
    expect(report.faults).toBeGreaterThan(report.storeRequests / 10)
  })
})
