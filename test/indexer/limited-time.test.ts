import { describe, expect, test, vi } from 'vitest'
import { withMessage } from '#core/finding-messages.ts'
import { INDEX_PROCESSOR_SECONDS } from '#core/limits.ts'
import { TIME_SHARES } from '#indexer/pipeline/progress.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { jobAt } from '#test/support/answered.ts'
import { index } from '#test/support/indexed.ts'
import { MIT, newRepository, repositories, skill, useRepositories } from './snapshot-scene.ts'

useRepositories()

const FILES = {
  LICENSE: MIT,
  'SKILLSET.md': '---\nname: Acme\n---\nBe kind.\n',
  'a/notes.md': '# Notes\n',
  'b/A.md': '# A\n',
  'b/SKILL.md': skill('b', 'See [more](more.md) and [data](data.txt).\n', 'include: [shared.md]\n'),
  'b/data.txt': 'Data.\n',
  'b/more.md': '# More\n',
  'b/shared.md': '# Shared\n',
  'c/SKILL.md': skill('c'),
  'd/notes.md': '# Notes\n',
}
/** Its two skills are parsed, then its files are read in the order of their paths. Each asks once how much time is used. */
const [PARSED, BEGUN] = [2, 5]

const LIMIT = `indexing takes at most ${INDEX_PROCESSOR_SECONDS} seconds of processor time`

/** @param shareAt the share of the time that is used when it is asked for the n-th time: the interval that asks, too, never comes */
async function indexFor(shareAt: (asked: number) => number, files: Record<string, string> = FILES) {
  const repository = await newRepository()
  let asked = 0
  const startUsedTime = () => () => shareAt(asked++)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { header, rows, section } = await index(
    repository,
    await repository.commit(files),
    repositories.root,
    {},
    { startUsedTime },
  ).finally(() => vi.useRealTimers())
  return { header, rows, section, messages: header.root.diagnostics.map(one => withMessage(one).message), asked }
}

describe('a job that runs out of processor time', () => {
  test('leaves nothing out until half of it is used', async () => {
    const { header, rows } = await indexFor(asked => (asked < PARSED ? TIME_SHARES.parsedSkills : TIME_SHARES.files))
    expect(header.truncated).toBe(false)
    expect([...rows('documents').keys()]).toEqual(['a/notes.md', 'd/notes.md'])
  })

  test('leaves out files, and of each skill nothing that an agent must read; the index has the number', async () => {
    const { header, rows, section, messages } = await indexFor(asked => (asked < PARSED ? 0 : 0.6))
    expect(header.truncated).toBe(true)
    expect(messages).toEqual([`6 files left out, 0 of them skills: ${LIMIT}`])
    expect([...rows('skills').keys()]).toEqual(['b/SKILL.md', 'c/SKILL.md'])
    expect([...rows('documents').keys()]).toEqual([])
    expect(rows('contexts').get('b/SKILL.md')?.full).toMatchObject({
      rules: [{ path: 'SKILLSET.md' }],
      includes: [{ path: 'b/shared.md' }],
    })
    expect(rows('contexts').get('b/SKILL.md')?.full?.incomplete).toBe(false)
    expect(rows('files').has('b/data.txt')).toBe(false)
    expect(section?.items.map(({ path }) => path)).toEqual(['b/SKILL.md', 'b/shared.md', 'c/SKILL.md'])
  })

  test('offers no archive of a skill whose files are not all there', async () => {
    const { rows } = await indexFor(asked => (asked < PARSED ? 0 : 0.6))
    expect(rows('packages').get('b/SKILL.md')).toHaveProperty('refusal')
    expect(rows('packages').get('c/SKILL.md')).toHaveProperty('archive')
  })

  test('leaves out skills after three quarters of it, and completes the current one', async () => {
    const { rows, messages } = await indexFor(asked => (asked < BEGUN ? 0 : 0.8))
    expect([...rows('skills').keys()]).toEqual(['b/SKILL.md'])
    expect(messages).toEqual([`4 files left out, 1 of them skills: ${LIMIT}`])
  })

  test('keeps a file of a skill that is left out if another one includes it, and lists it nowhere', async () => {
    const included = { 'c/SKILL.md': skill('c', 'Do it.\n', 'include: [A.md, ../b/shared.md]\n'), 'c/A.md': '# First\n' }
    const { rows, section } = await indexFor(asked => (asked < PARSED ? 0 : 0.8), { ...FILES, ...included })
    expect([...rows('skills').keys()]).toEqual(['c/SKILL.md'])
    expect(rows('contexts').get('c/SKILL.md')?.full).toMatchObject({
      includes: [{ path: 'c/A.md' }, { path: 'b/shared.md' }],
      incomplete: false,
    })
    expect([...(section?.items ?? [])].map(({ path }) => path)).toEqual(['c/A.md', 'c/SKILL.md'])
    expect(rows('files').get('b/shared.md')).toHaveProperty('record')
    expect([...rows('pages').values()].map(({ path }) => path)).toEqual(['c/A.md'])
  })

  test('leaves out skills that were not parsed in time, and serves nothing whose license they may declare', async () => {
    const { header, rows, messages } = await indexFor(asked => (asked === 0 || asked > PARSED ? 0 : 0.3))
    expect(header.truncated).toBe(true)
    expect([...rows('skills').keys()]).toEqual(['b/SKILL.md'])
    expect(rows('files').get('c/SKILL.md')).toMatchObject({ refusal: 'file.not_served' })
    expect(messages).toContain(`1 skills left out: ${LIMIT}`)
  })

  test('reports a partial index even if only a linked file is left out', async () => {
    const files = {
      ...FILES,
      'c/SKILL.md': skill('c', 'Run [it](../tools/run.ts) and [that](../tools/that.ts).\n'),
      'tools/that.ts': 'x\n',
    }
    const whole = await indexFor(() => 0, { ...files, 'tools/run.ts': 'y\n' })
    expect([whole.header.truncated, whole.rows('files').has('tools/run.ts')]).toEqual([false, true])
    const { header, rows, messages } = await indexFor(asked => (asked < whole.asked - 1 ? 0 : 0.6), {
      ...files,
      'tools/run.ts': 'y\n',
    })
    expect([header.truncated, messages]).toEqual([true, [`1 files left out, 0 of them skills: ${LIMIT}`]])
    expect([rows('files').has('tools/run.ts'), rows('files').has('tools/that.ts')]).toEqual([true, false])
    expect(rows('contexts').get('c/SKILL.md')?.warnings).toMatchObject([{ code: 'reference.unreadable' }])
  })

  const COPIES = Object.fromEntries([
    ['LICENSE', MIT],
    ...['.claude/skills/x', 'skills/x'].flatMap(folder => [
      [`${folder}/SKILL.md`, skill('x')],
      [`${folder}/more.md`, '# More\n'],
    ]),
  ])

  test.each([
    ['all is there', 0, 0, ['skills/x', 'skills/x']],
    ['a file of the usual original is left out', 1, 0.6, ['.claude/skills/x', '.claude/skills/x']],
    ['the usual original is left out', 2, 0.8, ['.claude/skills/x']],
  ])('folds copies into one that is whole: %s', async (_what, late, share, originals) => {
    const { asked } = await indexFor(() => 0, COPIES)
    const { rows, section } = await indexFor(at => (at < asked - late ? 0 : share), COPIES)
    const items = section?.items ?? []
    const skills = items.flatMap(({ path }, item) => (path.endsWith('/SKILL.md') ? [section?.head.copies.get(item) ?? item] : []))
    expect(skills.map(item => items[item]?.path)).toEqual(originals.map(folder => `${folder}/SKILL.md`))
    const [original] = originals
    expect(rows('packages').get(`${original}/SKILL.md`)).toMatchObject({ archive: {} })
    expect(rows('packages').get(`${original}/SKILL.md`)).not.toHaveProperty('copyOf')
    const codes = [...rows('skills').values()].flatMap(({ warnings }) => warnings.map(({ code }) => code))
    expect(codes).not.toContain('name.duplicate')
  })

  test('fails once all of it is used', async () => {
    const repository = await newRepository()
    await repository.commit(FILES)
    const host = await openLocalHost({ root: repositories.root, baseUrl: 'http://127.0.0.1' })
    const looked = Promise.withResolvers<void>()
    let isWritten = false
    const startUsedTime = () => () => {
      if (isWritten) looked.resolve()
      return isWritten ? 2 : 0
    }
    const open: typeof host.open = async (...asked) => {
      const reader = await host.open(...asked)
      const confirm = async () => {
        isWritten = true
        await looked.promise
      }
      return Object.assign(reader, { confirm })
    }
    const hosts = [{ segment: host.segment, isRemote: host.isRemote, open }]
    const job = await jobAt(host, repository.owner, repository.name)
    const written = writeSnapshot(
      { blobs: createMemoryBlobStore(systemClock), hosts, startUsedTime },
      job,
      new AbortController().signal,
    )
    await expect(written).rejects.toMatchObject({ code: 'index.timeout', message: expect.stringContaining('of processor time') })
    await host.close()
  })
})
