import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { createSnapshotReader, type SnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { answered } from '#test/support/answered.ts'
import { storedHeader } from '#test/support/snapshot-meaning.ts'
import { endpointUrl, type TestApp, testApp } from '#test/support/test-app.ts'
import { HANDBOOK, library } from './damaged-content.ts'

export let folder: string
export let app: TestApp
let store: BlobStore
let snapshots: SnapshotReader
export let log: string[]

/** Hooks of a test file that uses this: an app over a store of its own. */
export function useDamageScene(): void {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mountglass-damage-'))
    store = await openDiskBlobStore(folder)
    log = []
    app = await testApp(
      {
        'acme/handbook': HANDBOOK,
        'acme/other': { ...HANDBOOK, 'docs/page-3.md': '# Page 3\n\nTulips.\n' },
        'acme/library': library(),
      },
      {
        blobs: store,
        deps: deps => ({
          ...deps,
          snapshots: { ...deps.snapshots, open: (repository, commit) => snapshots.open(repository, commit) },
        }),
        logger: { level: 'warn', stream: { write: (line: string) => void log.push(line) } },
      },
    )
    forget()
    for (const name of ['handbook', 'other', 'library']) await app.open(`/local/acme/${name}`)
    forget()
  })
  afterAll(async () => {
    await app.close()
    await rm(folder, { recursive: true, force: true })
  })
}

interface Asked {
  status: number
  body: unknown
}

/** Lets go of everything that was read. */
export function forget(): void {
  snapshots = createSnapshotReader(store, {
    onDamage: async ({ isNew, cause }) => {
      if (isNew) app.app.log.error({ err: cause }, 'damaged')
    },
  })
}

export async function findAll(name: string, queries: readonly Record<string, string | number>[]): Promise<Asked[]> {
  const answers: Asked[] = []
  for (const query of queries) {
    const { status, json } = await app.get(endpointUrl('find', `/local/acme/${name}`, query))
    answers.push({ status, body: json })
  }
  return answers
}

/** Answers that need no byte of the search section. */
export async function askOthers(name: string): Promise<Asked[]> {
  const address = `/local/acme/${name}`
  const urls = [
    endpointUrl('mounts', address),
    endpointUrl('mounts', `${address}/docs`),
    endpointUrl('browse', address, { path: 'docs' }),
    endpointUrl('skills', address, { path: 'skills/plant/SKILL.md' }),
    endpointUrl('files', address, { path: 'docs/page-1.md' }),
  ]
  const answers: Asked[] = []
  for (const url of urls) {
    const { status, json } = await app.get(url)
    answers.push({ status, body: json })
  }
  return answers
}

/** Header and packs of a repository, and where they lie. */
export async function stored(name: string) {
  const described = answered(await app.host.repository('acme', name))
  const commit = app.commitOf(`acme/${name}`)
  const header = await storedHeader(store, described, commit)
  const pathOf = (key: string) => join(folder, 'o', `${key}~`)
  return {
    header,
    headerPath: pathOf(headerKey(described, commit)),
    packs: header.packs.map(pack => pathOf(packKey(described, pack.name))),
    sizes: header.packs.map(({ sizeBytes }) => sizeBytes),
  }
}
