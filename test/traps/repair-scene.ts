import { expect, onTestFinished, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { SnapshotHeader } from '#core/snapshot/format.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { createMemoryStateStore } from '#infra/memory-stores.ts'
import { answered } from '#test/support/answered.ts'
import { storedHeader } from '#test/support/snapshot-meaning.ts'
import { type StoreDriver, temporaryFolder } from '#test/support/store-drivers.ts'
import { endpointUrl, type TestApp, testApp } from '#test/support/test-app.ts'
import { withoutInstants } from '#test/support/without-instants.ts'
import { MIT, skillText } from '../api/support/texts.ts'

export const CONTENTS = {
  LICENSE: MIT,
  'SKILLSET.md': '---\nname: Handbook\n---\nRule.\n',
  'skills/pdf/SKILL.md': skillText('pdf', 'Read the file.\n'),
  'skills/pdf/references/forms.md': '# Forms\n\nFill in the forms.\n',
  ...Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`docs/page-${at}.md`, `# Page ${at}\n\nWords of page ${at}.\n`])),
}
export const ADDRESS = '/local/acme/handbook'

export const urlsAt = (address: string) => [
  endpointUrl('mounts', address),
  endpointUrl('mounts', `${address}/skills`),
  endpointUrl('browse', address, { path: 'docs' }),
  endpointUrl('find', address, { query: 'forms' }),
  endpointUrl('find', address, { query: 'wrods 7' }),
  endpointUrl('skills', address, { path: 'skills/pdf/SKILL.md' }),
  endpointUrl('files', address, { path: 'docs/page-7.md' }),
]
export const URLS = urlsAt(ADDRESS)

export interface Scene {
  /** Indexes when it is told to. */
  indexer: TestApp
  blobs: BlobStore
  states: StateStore
  repository: HostRepository
  commit: CommitSha
  header: SnapshotHeader
  /** What every URL answers. */
  right: string[]
  /** Another process of the service, which has read nothing. */
  replica(): Promise<Replica>
}

export interface Replica extends Pick<TestApp, 'get' | 'advanceClock'> {
  /** What the log said of damage. */
  damages(): string[]
  /** The answers to all URLs, one after another. */
  askAll(urls?: readonly string[]): Promise<{ status: number; body: string }[]>
}

/** What every URL answers, by the files of the repository: the same from every store, and asked once a process. */
const RIGHT = new WeakMap<Record<string, string>, Promise<string[]>>()

export async function open(
  openStore: (folder: string) => Promise<BlobStore>,
  contents: Record<string, string> = CONTENTS,
): Promise<Scene> {
  const blobs = await openStore(await temporaryFolder())
  const states = createMemoryStateStore()
  const clockStartsAt = new Date().toISOString()
  const indexer = await testApp({ 'acme/handbook': contents }, { blobs, states, clockStartsAt })
  onTestFinished(() => indexer.close())
  await indexer.open(ADDRESS)

  async function replica(): Promise<Replica> {
    const log: string[] = []
    const logger = { level: 'warn', stream: { write: (line: string) => void log.push(line) } }
    const app = await testApp(
      {},
      { blobs, states, clockStartsAt, logger, deps: deps => ({ ...deps, hosts: indexer.deps.hosts }) },
    )
    onTestFinished(() => app.close())
    const askAll = async (urls: readonly string[] = URLS) => {
      const answers = []
      for (const url of urls) {
        const { status, body } = await app.get(url)
        // It is indexed at another instant.
        answers.push({ status, body: withoutInstants(body) })
      }
      return answers
    }
    const { get, advanceClock } = app
    return { get, advanceClock, askAll, damages: () => log.filter(line => JSON.parse(line).msg.includes('damaged')) }
  }

  const repository = answered(await indexer.host.repository('acme', 'handbook'))
  const commit = indexer.commitOf('acme/handbook')
  const askRight = async () => {
    const answers = await (await replica()).askAll()
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    return answers.map(({ body }) => body)
  }
  const right = RIGHT.get(contents) ?? askRight()
  RIGHT.set(contents, right)
  return {
    indexer,
    blobs,
    states,
    repository,
    commit,
    header: await storedHeader(blobs, repository, commit),
    right: await right,
    replica,
  }
}

export const UNAVAILABLE = { status: 503, body: expect.stringContaining('skill.unavailable') }

/** Other bytes under the key. @param change `null`: none */
export async function change(blobs: BlobStore, key: string, change: ((bytes: Uint8Array) => Uint8Array) | null): Promise<void> {
  const bytes = (await blobs.read(key))?.bytes ?? new Uint8Array()
  await blobs.remove(key)
  if (change) await blobs.create(key, change(bytes))
}

/** With one bit changed. In the pack of the scene, contexts lie at 0.26 of its bytes, entries at 0.55; some parts no URL of the scene reads. */
export function flipped(share: number): (bytes: Uint8Array) => Uint8Array {
  return bytes => {
    const damaged = Uint8Array.from(bytes)
    const at = Math.floor(share * (bytes.length - 1))
    damaged[at] = (damaged[at] ?? 0) ^ 0x20
    return damaged
  }
}

export const cutTo = (share: number) => (bytes: Uint8Array) => bytes.subarray(0, Math.floor(share * bytes.length))

const DAMAGES: [string, ((bytes: Uint8Array) => Uint8Array) | null][] = [
  ...[0.26, 0.5, 0.7].map((share): [string, (bytes: Uint8Array) => Uint8Array] => [`changed at ${share}`, flipped(share)]),
  ['cut to a half', cutTo(0.5)],
  ['empty', () => new Uint8Array()],
  ['another', () => Buffer.from('another object')],
  ['gone', null],
]

/** What damage of every kind leads to, with each store. */
export function repairOverStore({ open: openStore }: StoreDriver<BlobStore>): void {
  test.each(DAMAGES)('a pack that is %s: unavailable or right, then right again', async (_, damage) => {
    const { indexer, blobs, repository, header, right, replica } = await open(openStore)
    const service = await replica()
    // Its header is in memory; nothing of the pack is.
    await service.get(URLS[0] ?? '')
    await change(blobs, packKey(repository, header.packs[0]?.name ?? ''), damage)
    let unavailable = 0
    for (const [at, answer] of (await service.askAll()).entries()) {
      if (answer.status === 503) unavailable++
      expect(answer).toEqual(answer.status === 503 ? UNAVAILABLE : { status: 200, body: right[at] })
    }
    expect(unavailable).toBeGreaterThan(0)
    expect(service.damages()).toHaveLength(1)

    expect(await indexer.index()).toBe(1)
    expect(await service.askAll()).toEqual(right.map(body => ({ status: 200, body })))
    expect(await (await replica()).askAll()).toEqual(right.map(body => ({ status: 200, body })))
    expect(service.damages()).toHaveLength(1)
  })

  test.each(DAMAGES.filter(([name]) => name !== 'gone'))('a header that is %s: unavailable, then right', async (_, damage) => {
    const { indexer, blobs, repository, commit, right, replica } = await open(openStore)
    await change(blobs, headerKey(repository, commit), damage)
    const service = await replica()
    expect(await service.askAll()).toEqual(right.map(() => UNAVAILABLE))
    expect(service.damages()).toHaveLength(1)
    expect(await indexer.index()).toBe(1)
    expect(await service.askAll()).toEqual(right.map(body => ({ status: 200, body })))
    expect(service.damages()).toHaveLength(1)
  })
}
