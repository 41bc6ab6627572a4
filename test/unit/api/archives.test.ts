import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { createArchives, type SkillPackage } from '#api/reading/packages.ts'
import type { Snapshot } from '#api/snapshot/snapshot-reader.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { ArchiveWriter } from '#core/tar-archive.ts'
import { encodeText } from '#core/text.ts'

/** A skill of one file, whose text is its name. */
function packageOf(name: string): SkillPackage {
  const parts: Uint8Array[] = []
  const writer = new ArchiveWriter(crc32, part => parts.push(part))
  writer.add({ name: 'SKILL.md', sizeBytes: name.length, isExecutable: false }, encodeText(name))
  writer.end()
  const bytes = Buffer.concat(parts)
  const archive = { sha256: hash('sha256', bytes, 'hex'), sizeBytes: bytes.length }
  const directory = name as RepoPath
  const path = `${name}/SKILL.md` as RepoPath
  return {
    path,
    directory,
    frontMatter: { name, description: '' },
    archive,
    excluded: 0,
    notices: [],
    copyOf: null,
    isForMcp: true,
  }
}

/** Holds a file for each skill, and counts what is read. A record's length is its number. */
function snapshotOf(names: readonly string[]) {
  const read: string[] = []
  const snapshot = {
    range: async (_: string, { prefix }: { prefix: string }) => {
      const number = names.indexOf(prefix.slice(0, -1))
      return [[`${prefix}SKILL.md`, { sizeBytes: names[number]?.length, sha256: '', record: [0, 0, number] }]]
    },
    record: async ([, , number]: [number, number, number]) => {
      read.push(names[number] as string)
      return encodeText(names[number] as string)
    },
  }
  return { snapshot: snapshot as unknown as Snapshot, read }
}

const STAYS = new AbortController().signal

test('a client gets all archives of a large index that it asks for at once', async () => {
  const names = Array.from({ length: 500 }, (_, number) => `s${number}`)
  const { snapshot } = snapshotOf(names)
  const archives = createArchives()
  const asked = names.map(name => archives.build(snapshot, packageOf(name), { client: '192.0.2.1', signal: STAYS }))
  expect((await Promise.all(asked)).every(({ bytes }) => bytes.length > 0)).toBe(true)
})

test('no archive is made for a client that left its line, and others get theirs', async () => {
  const { snapshot, read } = snapshotOf(['a', 'b', 'c'])
  const archives = createArchives()
  const leaving = new AbortController()
  const first = archives.build(snapshot, packageOf('a'), { client: '192.0.2.1', signal: STAYS })
  const second = archives.build(snapshot, packageOf('b'), { client: '192.0.2.1', signal: leaving.signal })
  const third = archives.build(snapshot, packageOf('c'), { client: '192.0.2.1', signal: STAYS })
  leaving.abort(new Error('left'))
  await expect(second).rejects.toThrow('left')
  await Promise.all([first, third])
  expect(read).toEqual(['a', 'c'])
})
