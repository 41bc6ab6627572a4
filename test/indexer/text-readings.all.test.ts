import { describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { createReadingsWriter, decodeText, splitReadings, type TextReading } from '#indexer/snapshot/text-readings.ts'
import { meaningOf, storedHeader } from '#test/support/snapshot-meaning.ts'
import {
  index,
  meaningAlone,
  memberAt,
  newRepository,
  newStores,
  page,
  pages,
  replaceReadings,
  type Subject,
  skill,
  useReuseScene,
} from './snapshot-reuse-scene.ts'

useReuseScene()

const LINKED = '# Linked\n\nSee [one](../docs/0/page-0.md), `docs/1/page-1.md` and ![it](a.png).\n'
const DECLARED =
  '---\ntitle: Declared\nname: declared-name\ndescription: What it declares.\nkeywords: [forms, "two words"]\n---\n# Heading\n\nFirst.\n'

async function firstCommit() {
  const subject = await newRepository()
  const files = {
    ...pages(60),
    'docs/linked.md': LINKED,
    'docs/declared.md': DECLARED,
    'notes/plain.txt': 'Plain.\n',
    'a/SKILL.md': skill('a'),
  }
  const first = await subject.repository.commit(files)
  const stores = newStores()
  await index(stores, subject, first)
  return { subject, first, ...stores }
}

describe('texts of the next commit equal those from scratch', () => {
  test.each<[string, Record<string, string | null>]>([
    ['one text changed', { 'docs/1/page-1.md': page(1, 1) }],
    ['the license forbids copies', { 'package.json': '{"license":"UNLICENSED"}\n' }],
    ['a text got another name', { 'docs/linked.md': null, 'docs/moved/linked.md': LINKED }],
    [
      'Markdown became plain text, and plain text Markdown',
      { 'docs/linked.md': null, 'docs/linked.txt': LINKED, 'notes/plain.txt': null, 'notes/plain.md': 'Plain.\n' },
    ],
    ['a skill includes a text', { 'a/SKILL.md': '---\nname: a\ndescription: Does a.\ninclude: [/docs/linked.md]\n---\nDo a.\n' }],
    ['the target of a link was removed', { 'docs/0/page-0.md': null }],
    ['a text became a part of a skill', { 'docs/SKILL.md': skill('docs') }],
  ])('when %s', async (_, change) => {
    const { subject, blobs, states } = await firstCommit()
    const second = await subject.repository.commit(change)
    const third = await subject.repository.commit({ 'docs/2/page-2.md': page(2, 2) })
    for (const commit of [second, third]) {
      await index({ blobs, states }, subject, commit)
      expect(await meaningOf(blobs, subject.described, commit)).toEqual(await meaningAlone(subject, commit))
    }
  })

  test.each<[string, (members: Uint8Array) => Uint8Array]>([
    ['are cut off', bytes => bytes.subarray(0, bytes.length - 3)],
    ['have another form', bytes => Buffer.from(bytes).fill(0xff, 20)],
    ['are of other texts', bytes => Buffer.from(bytes).fill(0x11, 0, 20)],
  ])('when its readings %s', async (_, change) => {
    const { subject, first, blobs, states } = await firstCommit()
    await replaceReadings(blobs, subject, first, change)
    const second = await subject.repository.commit({ 'docs/1/page-1.md': page(1, 1) })
    await index({ blobs, states }, subject, second)
    expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
  })
})

test('an unchanged text is not parsed again: its reading is taken from the earlier snapshot', async () => {
  const { subject, first, blobs, states } = await firstCommit()
  await replaceReadings(blobs, subject, first, bytes => {
    return rewritten(bytes, reading => (reading.title === 'Declared' ? { ...reading, title: 'As it was read' } : reading))
  })
  const second = await subject.repository.commit({ 'docs/1/page-1.md': page(1, 1) })
  await index({ blobs, states }, subject, second)
  const said = JSON.stringify(await meaningOf(blobs, subject.described, second))
  expect(said).toContain('"title":"As it was read"')
  expect(said).not.toContain('"title":"Declared"')
})

test('readings are stored once, of texts that are stored themselves', async () => {
  const { subject, first, blobs, states } = await firstCommit()
  const second = await subject.repository.commit({ 'docs/1/page-1.md': page(1, 1) })
  await index({ blobs, states }, subject, second)
  const of = async (commit: CommitSha) => (await readingsOf(blobs, subject, commit)).map(({ title }) => title)
  expect(await of(first)).toHaveLength(62)
  expect(await of(second)).toEqual([...(await of(first)), 'Page 1'])
  const third = await subject.repository.commit({
    'package.json': '{"license":"UNLICENSED"}\n',
    'docs/new.md': '# New\n\nA text that may not be copied.\n',
  })
  await index({ blobs, states }, subject, third)
  expect(await of(third)).not.toContain('New')
})

test('from scratch, a commit has the same bytes again', async () => {
  const { subject, first, blobs } = await firstCommit()
  const again = newStores().blobs
  await index({ blobs: again }, subject, first)
  expect(await storedHeader(again, subject.described, first)).toEqual(await storedHeader(blobs, subject.described, first))
})

async function readingsOf(blobs: BlobStore, subject: Subject, commit: CommitSha): Promise<TextReading[]> {
  const { readings = [] } = await storedHeader(blobs, subject.described, commit)
  const members = await Promise.all(readings.map(location => memberAt(blobs, subject, commit, location)))
  return members.flatMap(member => [...splitReadings(member)].map(([, text]) => decodeText(text).reading))
}

function rewritten(member: Uint8Array, change: (reading: TextReading) => TextReading): Uint8Array {
  const writer = createReadingsWriter()
  for (const [oid, encoded] of splitReadings(member)) {
    const text = decodeText(encoded)
    writer.add(oid, { ...text, reading: change(text.reading) })
  }
  return writer.take()
}
