import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { buildApp } from '#api/app.ts'
import { createHiddenNotes, type HiddenNotes } from '#api/snapshot/hidden-notes.ts'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import { HIDDEN_HOURS } from '#core/limits.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { hiddenKey } from '#core/snapshot/store-keys.ts'
import { sweepStore } from '#indexer/sweep/sweep.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import type { Repository } from '#test/support/fake-github/world.ts'
import { recordedStore } from '#test/support/recorded-store.ts'
import { handClock, jobOf } from '#test/support/store-values.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'

const SKILL = { 'package.json': '{"license":"MIT"}', 'skills/a/SKILL.md': '---\nname: a\ndescription: d\n---\nDo.\n' }
const MOUNT = '/api/v1/mounts/gh/acme/tools'
const HOUR = 3_600

/** The values of the notes. */
async function notesIn(states: StateStore): Promise<unknown[]> {
  const keys = (await states.list('ctl/kept/')).filter(key => key.endsWith('/hidden'))
  return Promise.all(keys.map(async key => (await states.read(key))?.value))
}

describe('a repository that was opened', () => {
  let app: TestApp

  beforeEach(async () => {
    app = await testApp({ 'acme/tools': SKILL }, { github: { withToken: true } })
    await app.open('/gh/acme/tools')
    expect(await visit(200)).toEqual([])
  })
  afterEach(() => app.close())

  const show = (changes: Partial<Repository>) => app.github.shown('acme', 'tools', changes)
  const now = () => app.deps.clock.now().toISOString()

  /** Asks for the mount, and returns the notes after it. */
  async function visit(status: number): Promise<unknown[]> {
    expect((await app.get(MOUNT)).status).toBe(status)
    await app.deps.hidden.written()
    return await notesIn(app.states)
  }

  test('is noted as hidden since the first visit that does not find it, until a visit finds it again', async () => {
    await show({ visibility: 'private' })
    app.advanceClock(301)
    const since = now()
    expect(await visit(404)).toEqual([{ since }])
    app.advanceClock(24 * HOUR)
    expect(await visit(404)).toEqual([{ since }])

    await show({ visibility: 'public' })
    app.advanceClock(31)
    expect(await visit(200)).toEqual([])
    await show({ visibility: 'private' })
    app.advanceClock(301)
    expect(await visit(404)).toEqual([{ since: now() }])
  })

  test('is not noted as hidden while the host does not answer, nor is one that was never opened', async () => {
    app.advanceClock(700)
    app.github.faults.add({ status: 500, times: 9, match: { host: 'api', path: /^\/repos\// } })
    app.github.faults.add({ status: 500, times: 9, match: { host: 'web' } })
    expect(await visit(503)).toEqual([])
    app.github.faults.clear()
    app.advanceClock(10)
    expect((await app.get('/api/v1/mounts/gh/acme/nothing')).status).toBe(404)
    await app.deps.hidden.written()
    expect(await notesIn(app.states)).toEqual([])
  })

  /** A process that opened the repository as well, an hour ago. */
  async function openOther() {
    const stores = { blobs: app.blobs, states: app.states }
    const hidden = createHiddenNotes(stores, app.deps.clock)
    const other = await buildApp({ ...app.deps, hidden, snapshots: createSnapshotReader(app.blobs) }, { baseUrl: BASE_URL })
    const visitOther = async () => {
      expect((await other.inject(MOUNT)).statusCode).toBe(200)
      await hidden.written()
    }
    await visitOther()
    app.advanceClock(HOUR)
    return { visitOther, close: () => other.close() }
  }

  async function sweep(): Promise<number> {
    const { keptSnapshots } = await sweepStore({ blobs: app.blobs, states: app.states }, app.deps.clock, {
      days: 90,
      remove: true,
      signal: new AbortController().signal,
      onFailure(_, error) {
        throw error
      },
    })
    return keptSnapshots
  }

  test.each([
    ['stays when another process opens it before it is removed', true, 1],
    ['is removed when no process opens it', false, 0],
  ])('and that one process found hidden by mistake %s', async (_, isVisited, kept) => {
    const { visitOther, close } = await openOther()
    const { id } = await app.github.shown('acme', 'tools')
    app.deps.hidden.hidden(`gh-${id}`)
    await app.deps.hidden.written()
    app.advanceClock((HIDDEN_HOURS - 1) * HOUR)
    expect(await sweep()).toBe(1)
    if (isVisited) await visitOther()
    expect(await notesIn(app.states)).toHaveLength(isVisited ? 0 : 1)
    app.advanceClock(HOUR + 1)
    expect(await sweep()).toBe(kept)
    expect(await notesIn(app.states)).toEqual([])
    await close()
  })
})

describe('notes', () => {
  const { repository } = jobOf(1)
  const name = { host: repository.host, owner: repository.owner, repository: repository.name }
  const closed = { ...repository, visibility: 'private' } as const

  /** A process, with the calls that its stores receive. */
  function openProcess(states = createMemoryStateStore()) {
    const clock = handClock()
    const blobs = createMemoryBlobStore(clock)
    const calls: string[] = []
    const recorded = { blobs: recordedStore(blobs, calls), states: recordedStore(states, calls) }
    const notes = createHiddenNotes(recorded, clock)
    const callsOf = async (act: (notes: HiddenNotes) => void) => {
      calls.length = 0
      act(notes)
      await notes.written()
      return calls.map(call => call.split(' ')[0])
    }
    return { clock, blobs, states, notes, callsOf }
  }

  test('are looked for once an hour, and written once an hour, however often a repository is asked for', async () => {
    const { clock, callsOf } = openProcess()
    const open = (notes: HiddenNotes) => notes.opened(name, repository)
    const miss = (notes: HiddenNotes) => notes.missing(name)
    expect(await callsOf(open)).toEqual(['read'])
    expect(await callsOf(open)).toEqual([])
    clock.advance(HOUR)
    expect(await callsOf(open)).toEqual(['read'])
    expect(await callsOf(miss)).toEqual(['create'])
    expect(await callsOf(miss)).toEqual([])
    expect(await callsOf(open)).toEqual(['read', 'remove'])
    expect(await callsOf(miss)).toEqual(['create'])
  })

  test('of names that were never opened are not written', async () => {
    const { callsOf } = openProcess()
    expect(await callsOf(notes => notes.missing(name))).toEqual([])
  })

  test('of a repository that a person opens as a private one are those of a repository that is hidden', async () => {
    const { states, notes } = openProcess()
    notes.opened(name, repository)
    notes.opened(name, closed)
    await notes.written()
    expect(await states.list('')).toEqual([hiddenKey(repository)])
    // Asked by a stranger, the name tells nothing any more.
    await states.remove(hiddenKey(repository))
    notes.missing(name)
    await notes.written()
    expect(await states.list('')).toEqual([])
  })

  test('of a private repository are written only if something of it is stored', async () => {
    const { blobs, states, callsOf } = openProcess()
    expect(await callsOf(notes => notes.gone(repository.id))).toEqual(['list'])
    expect(await states.list('')).toEqual([])
    const other = { ...closed, id: 'test-2' }
    await blobs.create(
      `${hiddenKey(other).slice('ctl/kept/'.length, -'hidden'.length)}c/${'a'.repeat(40)}/r1f1s1`,
      new Uint8Array(1),
    )
    expect(await callsOf(notes => notes.gone(other.id))).toEqual(['list', 'create'])
    expect(await states.list('')).toEqual([hiddenKey(other)])
  })

  test('that a store does not take are made at the next visit', async () => {
    const states = createMemoryStateStore()
    let isBroken = true
    const away = async () => {
      throw new Error('no store')
    }
    const notes = openProcess({ ...states, create: (key, value) => (isBroken ? away() : states.create(key, value)) }).notes
    notes.hidden(repository.id)
    await notes.written()
    isBroken = false
    notes.hidden(repository.id)
    await notes.written()
    expect(await states.list('')).toEqual([hiddenKey(repository)])
  })

  test('that wait are dropped when the process ends', async () => {
    const { states, notes } = openProcess()
    for (let number = 0; number < 100; number++) notes.hidden(`test-${number}`)
    await notes.close()
    expect((await states.list('')).length).toBeLessThan(2)
  })
})
