import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { openPeopleScene, type PeopleScene } from '#test/support/people-scene.ts'

/** What the message of a store quotes, which may be a name or a path of what it was asked for. */
const QUOTED = 'unspeakable-customer'

let scene: PeopleScene
let isAway = false
const lines: string[] = []
beforeAll(async () => {
  const memory = createMemoryBlobStore(systemClock)
  const whenThere = async <Value>(read: () => Promise<Value>): Promise<Value> => {
    if (isAway) throw new Error(`no answer for ${QUOTED}`)
    return await read()
  }
  const blobs: BlobStore = {
    ...memory,
    read: key => whenThere(() => memory.read(key)),
    readRange: (key, offset, length) => whenThere(() => memory.readRange(key, offset, length)),
  }
  scene = await openPeopleScene({
    contents: { 'acme/closed': { 'a.md': '# A\n' }, 'acme/tools': { 'package.json': '{"license":"MIT"}', 'a.md': '# A\n' } },
    blobs,
    states: createMemoryStateStore(),
    logger: { level: 'trace', stream: { write: (line: string) => void lines.push(line) } },
  })
})
afterAll(() => scene.close())

async function linesOfFailure(get: (url: string) => Promise<{ status: number }>, url: string): Promise<string[]> {
  await get(url)
  await scene.index()
  lines.length = 0
  isAway = true
  expect((await get(url)).status).toBe(503)
  isAway = false
  return lines.filter(line => line.includes('"err"'))
}

test('an error while a private repository is read is logged by its place in the code, without its message', async () => {
  const ada = await scene.signIn(scene.ada)
  const logged = await linesOfFailure(url => ada.get(url), '/api/v1/files/gh/acme/closed?path=a.md')
  expect(logged.length).toBeGreaterThan(0)
  expect(logged.join('')).toMatch(/ at [^"]*private-errors/)
  expect(lines.join('')).not.toMatch(new RegExp(`${QUOTED}|closed`, 'i'))
})

test('an error of a public repository is logged with its message', async () => {
  const logged = await linesOfFailure(url => scene.get(url), '/api/v1/files/gh/acme/tools?path=a.md')
  expect(logged.join('')).toContain(QUOTED)
})
