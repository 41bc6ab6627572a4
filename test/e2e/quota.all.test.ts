import { expect, onTestFinished, test } from 'vitest'
import { makePlace, type PlaceKind, SERVERS_OF } from '#test/soak/place.ts'
import { countAlone, makeQuotaScene, QUESTIONS_EACH, startFleet, visitInTurn } from '#test/soak/quota.ts'
import { hasServer, testServer } from '#test/support/servers/servers.ts'
import { ensureBuilt } from '../site/support/built-site.ts'

// The short form of `npm run bench -- --only quota`.

const PLACES: readonly PlaceKind[] = ['disk', 's3', 'disk + postgres']

test.for(PLACES.filter(place => SERVERS_OF[place].every(hasServer)))(
  'processes over %s ask GitHub together what one asks',
  async kind => {
    await ensureBuilt()
    const addresses = 20
    const scene = await makeQuotaScene(addresses, onTestFinished)
    const place = await makePlace(kind, testServer, onTestFinished)
    const services = await startFleet(scene, 3, { ...place.env, ...scene.env }, onTestFinished)
    const { states } = await place.open()
    const { questions, visits } = await visitInTurn(scene, services, states)
    expect(visits).toBe(3 * addresses)
    // Whoever asks first. A process that the store keeps waiting asks for itself, which it counts.
    const each = QUESTIONS_EACH * addresses
    const most = (await countAlone(services)) === 0 ? each : services.length * each
    expect(questions).toBeGreaterThanOrEqual(each)
    expect(questions).toBeLessThanOrEqual(most)
  },
)
