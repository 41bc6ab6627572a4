import { describe, expect, onTestFinished, test } from 'vitest'
import { makePlace, type PlaceKind, SERVERS_OF } from '#test/soak/place.ts'
import { runReplicas } from '#test/soak/replicas.ts'
import { hasServer, testServer } from '#test/support/servers/servers.ts'

// The short form of `npm run soak -- --only replicas`.

const RUNS: readonly { place: PlaceKind; share: number }[] = [
  { place: 'disk', share: 0 },
  { place: 's3 + postgres', share: 0 },
  { place: 's3 + postgres', share: 0.2 },
]
// In the grace a machine may stand still; a replica that hears nothing of a webhook shows the old commit for longer.
const REPLICAS = { replicas: 3, repositories: 6, seconds: 8, pushSeconds: 1, lost: 0, graceSeconds: 30, seed: 1 }

describe('three replicas, with webhooks that reach one of them, twice, late or out of order', () => {
  test.for(RUNS.filter(({ place }) => SERVERS_OF[place].every(hasServer)))(
    'over $place miss no repository and show nothing older than it may be while $share of what GitHub answers fails',
    async ({ place: kind, share }) => {
      const place = await makePlace(kind, testServer, onTestFinished)
      const report = await runReplicas(place, { ...REPLICAS, share }, onTestFinished)
      expect(report.problems).toEqual([])
      expect(report.pushes).toBe(8)
      expect(report.faults > 0).toBe(share > 0)
    },
  )
})
