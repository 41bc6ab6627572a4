import { describe, expect, test } from 'vitest'
import { index } from '#test/support/indexed.ts'
import { indexFiles, MIT, newRepository, repositories, skill, useRepositories } from './snapshot-scene.ts'

useRepositories()

describe('odd repositories', () => {
  test('one without any content is ready and empty', async () => {
    const { header } = await indexFiles({ LICENSE: null, 'src/main.ts': 'x' })
    expect(header.root).toMatchObject({
      folder: { counts: { skills: 0, documents: 0 }, license: { kind: 'none' } },
      skills: [],
      documents: [],
    })
  })

  test('odd names are names', async () => {
    const names = [
      'docs/%5Bboop%5D.md',
      'docs/%.md',
      'docs/c++.md',
      'docs/a b.md',
      'docs/e\u0301.md',
      'docs/-x.md',
      'docs/#.md',
      'docs/[x].md',
      'docs/🙂.md',
    ]
    const { rows } = await indexFiles(Object.fromEntries(names.map(name => [name, '# T\n'])))
    expect([...rows('documents').keys()].sort()).toEqual([...names].sort())
  })

  test('names that no path can hold are left out and counted', async () => {
    const repository = await newRepository()
    const blob = await repository.writeBlob('# T\n')
    const tree = await repository.rawTree([
      { mode: '100644', name: 'a\\b.md', oid: blob },
      { mode: '100644', name: 'ok.md', oid: blob },
      { mode: '100644', name: new Uint8Array([0xff, 0x2e, 0x6d, 0x64]), oid: blob },
    ])
    const { rows, header } = await index(repository, await repository.commitTree(tree), repositories.root)
    expect([...rows('documents').keys()]).toEqual(['ok.md'])
    expect(header.root.diagnostics).toMatchObject([{ code: 'tree.invalid_name' }])
  })

  test('a missing blob is reported, and the rest is indexed', async () => {
    const repository = await newRepository()
    const commit = await repository.commit({ 'a.md': '# A\n', 'gone.md': '# Gone\n', 'g/SKILL.md': skill('g') })
    await repository.dropObject(await repository.oidAt(commit, 'gone.md'))
    await repository.dropObject(await repository.oidAt(commit, 'g/SKILL.md'))
    const { rows, header } = await index(repository, commit, repositories.root)
    expect([...rows('documents').keys()]).toEqual(['a.md'])
    expect(header.root.diagnostics.map(({ code, path }) => [code, path])).toEqual([
      ['skill.unreadable', 'g/SKILL.md'],
      ['file.unreadable', 'gone.md'],
    ])
  })

  test('more license texts than the limit leave their files described only, and the index is partial', async () => {
    const words = 'word '.repeat(26_000)
    const licenses = Array.from({ length: 1_040 }, (_, number): [string, string] => [
      `${String(number).padStart(4, '0')}/LICENSE`,
      `~~${number}~~ ${words}`,
    ])
    const { header, rows } = await indexFiles({ ...Object.fromEntries(licenses), 'z/LICENSE': MIT, 'z/a.md': '# A\n' })
    expect(header.truncated).toBe(true)
    expect(header.root.diagnostics).toContainEqual(expect.objectContaining({ code: 'index.limit_bytes', path: '' }))
    expect(rows('folders').get('z')?.license).toMatchObject({ kind: 'open', name: 'MIT' })
    expect(rows('folders').get('1039')?.license).toMatchObject({ kind: 'unknown' })
  })

  test('folders beyond the depth limit are left out and the index is partial', async () => {
    const { header, rows } = await indexFiles({ [`${'d/'.repeat(300)}a.md`]: '# A\n', 'b.md': '# B\n' })
    expect(header.truncated).toBe(true)
    expect([...rows('documents').keys()]).toEqual(['b.md'])
    expect(header.root.diagnostics).toMatchObject([{ code: 'tree.limit' }])
  })

  test('a tree with more entries than are read fails as too large, in bounded time', async () => {
    const repository = await newRepository()
    let tree = await repository.rawTree([{ mode: '100644', name: 'f', oid: await repository.writeBlob('x') }])
    for (let level = 0; level < 10; level++) {
      tree = await repository.rawTree(Array.from({ length: 10 }, (_, item) => ({ mode: '40000', name: `d${item}`, oid: tree })))
    }
    await expect(index(repository, await repository.commitTree(tree), repositories.root)).rejects.toMatchObject({
      code: 'index.too_large',
    })
  })

  test('a blob of a gibibyte is refused by its size', async () => {
    const repository = await newRepository()
    const blob = await repository.writeZeroBlob(2 ** 30)
    const commit = await repository.commit({
      LICENSE: MIT,
      'a/SKILL.md': skill('a'),
      'a/huge.bin': { blob },
      'huge.md': { blob },
    })
    const { rows } = await index(repository, commit, repositories.root)
    expect(rows('files').get('a/huge.bin')).toEqual({ sizeBytes: 2 ** 30, refusal: 'file.too_large' })
    expect(rows('contexts').get('a/SKILL.md')?.full?.oversized).toEqual([{ path: 'a/huge.bin', sizeBytes: 2 ** 30 }])
  })
})
