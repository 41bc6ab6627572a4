import { gunzipSync } from 'node:zlib'
import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { type Location, SnapshotHeader, TABLES, type TableName } from '#core/snapshot/format.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { readSection } from './search-section.ts'

/**
 * Everything that a snapshot says, with the texts themselves in place of where they lie: equal for snapshots that answer alike,
 * however they came to be.
 */
export async function meaningOf(blobs: BlobStore, repository: HostRepository, commit: CommitSha): Promise<unknown> {
  const header = await storedHeader(blobs, repository, commit)
  const packs = await Promise.all(header.packs.map(async ({ name }) => (await blobs.read(packKey(repository, name)))?.bytes))
  const member = ([pack, offset, length]: Location) => {
    const bytes = packs[pack]
    if (bytes === undefined || offset + length > bytes.length) throw new Error(`nothing lies at ${pack}:${offset}+${length}`)
    return gunzipSync(bytes.subarray(offset, offset + length)).toString('utf8')
  }
  const withTexts = (_: string, value: unknown) => {
    const { record, ...rest } = (value ?? {}) as { record?: unknown }
    return Array.isArray(record) ? { record: member(record as Location), ...rest } : value
  }
  const tables = (Object.keys(TABLES) as TableName[]).map(name => {
    const rows = header.tables[name].shards.flatMap(([, , location]) => JSON.parse(member(location)) as unknown[])
    return [name, header.tables[name].rows, JSON.parse(JSON.stringify(rows), withTexts)]
  })
  const section = header.search && (await readSection(blobs, repository, header, header.search))
  const { truncated, root } = header
  return {
    truncated,
    root,
    tables,
    search: section && {
      items: section.items.map(item => ({ ...item, text: item.text && member(item.text) })),
      terms: [...section.terms],
      words: section.words,
    },
  }
}

export async function storedHeader(blobs: BlobStore, repository: HostRepository, commit: CommitSha): Promise<SnapshotHeader> {
  const header = await blobs.read(headerKey(repository, commit))
  if (header === null) throw new Error(`${commit} is not indexed`)
  return SnapshotHeader.parse(JSON.parse(gunzipSync(header.bytes).toString('utf8')))
}
