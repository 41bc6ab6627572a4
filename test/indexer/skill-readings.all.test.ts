import { describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { decodeSkillReading, type SkillReading } from '#indexer/rules/skill-reading.ts'
import { splitSkillReadings } from '#indexer/snapshot/skill-readings.ts'
import { meaningOf, storedHeader } from '#test/support/snapshot-meaning.ts'
import {
  host,
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

/** Skills that differ in all that is read of a text. */
const SKILLS: Record<string, string> = {
  'skills/plain/SKILL.md': skill('plain'),
  'skills/linked/SKILL.md':
    '---\nname: linked\ndescription: Links.\n---\n# Linked\n\nSee [one](/docs/0/page-0.md), `docs/1/page-1.md` and ![it](a.png).\n\n<!-- hidden -->\n\n## More\n',
  'skills/typed/SKILL.md':
    '---\nname: typed\ndescription: Types.\nmetadata: {version: "1.0", 2: two, 10: ten, __proto__: odd}\npaths: [a, b]\nodd: {x: 1.50, yes: true, none: null, __proto__: {deep: 1}}\nkeywords: [forms, "two words"]\n---\nTyped.\n',
  'skills/half/SKILL.md': '---\nname: half\ndescription: "Half of a character: \\ud83d"\n---\nHalf.\n',
  'skills/none/SKILL.md': '# No front matter\n\nIts first paragraph.\n',
  'skills/open/SKILL.md': '---\nname: open\nlicense: MIT\n',
  'skills/broken/SKILL.md': '---\nname: broken\ndescription: "open\n---\nBroken.\n',
  'skills/repaired/SKILL.md': '---\nname: repaired\ndescription: Use when: it rains\n---\nRepaired.\n',
  'skills/mark/SKILL.md': `\uFEFF${skill('mark')}`,
  'skills/other/SKILL.md': '---\nname: other-name\ndescription: Says \u202Emore.\n---\n',
  'skills/fence/SKILL.md': '---\nname: fence\ndescription: Ends.\n---  \n---\nFence.\n',
  'skills/german/SKILL.md':
    '---\nname: german\ndescription: Says.\ntranslations: {de: {name: deutsch, description: Sagt.}}\ninclude: [/docs/2/page-2.md]\nmetadata: {internal: "true"}\n---\nGerman.\n',
}

async function firstCommit(files: Record<string, string> = {}) {
  const subject = await newRepository()
  const first = await subject.repository.commit({ ...pages(40), ...SKILLS, ...files })
  const stores = newStores()
  await index(stores, subject, first)
  return { subject, first, ...stores }
}

describe('the next commit says what it says from scratch', () => {
  test.each<[string, Record<string, string | null>]>([
    ['a document changed', { 'docs/1/page-1.md': page(1, 1) }],
    ['a skill changed', { 'skills/plain/SKILL.md': skill('plain-2') }],
    ['the license forbids copies', { 'package.json': '{"license":"UNLICENSED"}\n' }],
    [
      'skills have other folders',
      Object.fromEntries(
        Object.entries(SKILLS).flatMap(([path, text]) => [
          [path, null],
          [path.replace('skills/', 'moved/x-'), text],
        ]),
      ),
    ],
    ['a skill is the root', { 'SKILL.md': SKILLS['skills/plain/SKILL.md'] as string }],
  ])('when %s', async (_, change) => {
    const { subject, blobs, states } = await firstCommit()
    const second = await subject.repository.commit(change)
    const third = await subject.repository.commit({ 'docs/2/page-2.md': page(2, 2) })
    for (const commit of [second, third]) {
      await index({ blobs, states }, subject, commit)
      expect(await meaningOf(blobs, subject.described, commit)).toEqual(await meaningAlone(subject, commit))
    }
  })

  test.each<[string, string[], (member: string) => string]>([
    ['are cut off', ['earlier_snapshot'], text => text.slice(0, -3)],
    ['are no lines', ['earlier_snapshot'], () => 'x'],
    ['are not JSON', ['earlier_snapshot'], text => text.replaceAll('"bodyAt"', 'bodyAt')],
    ['have another form', ['earlier_snapshot'], text => text.replaceAll('"bodyAt"', '"at"')],
    ['are of other texts', [], text => text.replaceAll(/^[0-9a-f]{40}/gm, '1'.repeat(40))],
  ])('when its readings %s', async (_, notes, change) => {
    const { subject, first, blobs, states } = await firstCommit()
    await replaceReadings(blobs, subject, first, 'skillReadings', member => change(member.toString()))
    const second = await subject.repository.commit({ 'docs/1/page-1.md': page(1, 1) })
    const noted: string[] = []
    const deps = { blobs, states, hosts: [host], fallbacks: { note: (kind: string) => void noted.push(kind) } }
    await writeSnapshot(deps, { repository: subject.described, commit: second }, new AbortController().signal)
    expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
    expect(noted).toEqual(notes)
    // The new snapshot has whole readings.
    const third = await subject.repository.commit({ 'docs/2/page-2.md': page(2, 2) })
    await writeSnapshot(deps, { repository: subject.described, commit: third }, new AbortController().signal)
    expect(noted).toEqual(notes)
  })
})

test('an unchanged skill is not parsed again: what was read of it is taken from the earlier snapshot', async () => {
  const { subject, first, blobs, states } = await firstCommit()
  await replaceReadings(blobs, subject, first, 'skillReadings', member =>
    member.toString().replaceAll('"description":"Links."', '"description":"As it was read."'),
  )
  const second = await subject.repository.commit({ 'docs/1/page-1.md': page(1, 1) })
  await index({ blobs, states }, subject, second)
  const said = JSON.stringify(await meaningOf(blobs, subject.described, second))
  expect(said).toContain('"description":"As it was read."')
  expect(said).not.toContain('"description":"Links."')
})

test('readings are stored once, of skills that are stored themselves', async () => {
  const { subject, first, blobs, states } = await firstCommit({ 'skills/again/SKILL.md': skill('plain') })
  const next = async (changes: Record<string, string>) => {
    const commit = await subject.repository.commit(changes)
    await index({ blobs, states }, subject, commit)
    return readingsOf(blobs, subject, commit)
  }
  const before = await readingsOf(blobs, subject, first)
  expect(before).toHaveLength(Object.keys(SKILLS).length)
  expect(await next({ 'docs/1/page-1.md': page(1, 1) })).toEqual(before)
  const after = await next({ 'skills/new/SKILL.md': skill('new'), 'skills/plain/SKILL.md': skill('changed') })
  expect(after.slice(0, before.length)).toEqual(before)
  expect(after.slice(before.length).map(([, { fields }]) => fields.name)).toEqual(['new', 'changed'])
  const closed = await next({ 'package.json': '{"license":"UNLICENSED"}\n', 'skills/closed/SKILL.md': skill('closed') })
  expect(closed).toEqual(after)
})

test('readings that no skill has any more keep out none of those that skills have', async () => {
  const long = (number: number, turn: number) =>
    `---\nname: s-${number}\ndescription: Says.\nnote: ${`${turn} `.repeat(3_900)}\n---\nText ${turn}.\n`
  const some = (from: number, count: number, turn: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`skills/s-${from + at}/SKILL.md`, long(from + at, turn)]))
  const { subject, first, blobs, states } = await firstCommit(some(0, 500, 0))
  let before = await readingsOf(blobs, subject, first)
  expect(JSON.stringify(before).length).toBeGreaterThan(7_900_000)
  for (let turn = 1; turn <= 3; turn++) {
    const commit = await subject.repository.commit(some(100 * turn, 30, turn))
    await index({ blobs, states }, subject, commit)
    const after = await readingsOf(blobs, subject, commit)
    expect(after.length - before.length).toBe(30)
    before = after
  }
})

test('a snapshot that reuses no pack has all readings again', async () => {
  const { subject, first, blobs, states } = await firstCommit()
  const gone = Object.fromEntries(Object.keys(pages(40)).map(path => [path, null]))
  const second = await subject.repository.commit({ ...gone, 'docs/new.md': page(99) })
  await index({ blobs, states }, subject, second)
  const [before, after] = [
    await storedHeader(blobs, subject.described, first),
    await storedHeader(blobs, subject.described, second),
  ]
  expect(after.packs.filter(({ name }) => before.packs.some(pack => pack.name === name))).toEqual([])
  expect(await readingsOf(blobs, subject, second)).toEqual(await readingsOf(blobs, subject, first))
})

test('from scratch, a commit has the same bytes again', async () => {
  const { subject, first, blobs } = await firstCommit()
  const again = newStores().blobs
  await index({ blobs: again }, subject, first)
  expect(await storedHeader(again, subject.described, first)).toEqual(await storedHeader(blobs, subject.described, first))
})

async function readingsOf(blobs: BlobStore, subject: Subject, commit: CommitSha): Promise<[oid: string, SkillReading][]> {
  const { skillReadings = [] } = await storedHeader(blobs, subject.described, commit)
  const members = await Promise.all(skillReadings.map(location => memberAt(blobs, subject, commit, location)))
  return members.flatMap(member => [...splitSkillReadings(member)]).map(([oid, json]) => [oid, decodeSkillReading(json)])
}
