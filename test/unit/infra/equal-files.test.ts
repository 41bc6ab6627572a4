import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { openWorktree, perhapsEqual } from '#infra/worktree/reader.ts'

function pathsIn(sizes: Record<string, number>): string[] {
  return [...perhapsEqual(Object.entries(sizes).map(([path, sizeBytes]) => ({ path, sizeBytes })))].sort()
}

test('files of skills that may be copies are those with the same place and size', () => {
  const sizes = {
    'a/SKILL.md': 10,
    'a/x.md': 5,
    'a/deep/y.md': 6,
    'a/other.md': 7,
    '.b/a/SKILL.md': 10,
    '.b/a/x.md': 5,
    '.b/a/deep/y.md': 6,
    '.b/a/other.md': 8,
    'c/SKILL.md': 11,
    'c/x.md': 5,
    'x.md': 5,
  }
  expect(pathsIn(sizes)).toEqual(['.b/a/SKILL.md', '.b/a/deep/y.md', '.b/a/x.md', 'a/SKILL.md', 'a/deep/y.md', 'a/x.md'])
})

test('no file may be a copy if no two skills have the same size', () => {
  expect(pathsIn({ 'SKILL.md': 10, 'a/SKILL.md': 11, 'x.md': 1, 'a/x.md': 1, 'b/x.md': 1, 'noSKILL.md': 10 })).toEqual([])
})

test('a skill at the root may be a copy as others', () => {
  expect(pathsIn({ 'SKILL.md': 10, 'x.md': 1, 'a/SKILL.md': 10, 'a/x.md': 1 })).toEqual([
    'SKILL.md',
    'a/SKILL.md',
    'a/x.md',
    'x.md',
  ])
})

test('in a working folder, copies of a skill have the ids that git gives their files', async () => {
  const root = await mkdtemp(join(tmpdir(), 'mountglass-copies-'))
  const text = '---\nname: a\n---\n'
  const files = {
    'a/SKILL.md': text,
    '.b/a/SKILL.md': text,
    'a/x.md': 'text',
    '.b/a/x.md': 'text',
    'a/y.md': 'one',
    '.b/a/y.md': 'two',
  }
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
  const worktree = await openWorktree(root, { treeEntries: 100, seconds: 60 })
  const oids = new Map<string | null, string>()
  for await (const { path, oid } of worktree.entries()) oids.set(path, oid)
  expect(oids.get('a/SKILL.md')).toBe(oids.get('.b/a/SKILL.md'))
  expect(oids.get('a/x.md')).toBe(
    execFileSync('git', ['hash-object', join(root, '.b/a/x.md')])
      .toString()
      .trim(),
  )
  expect(oids.get('a/y.md')).not.toBe(oids.get('.b/a/y.md'))
  for await (const { bytes } of worktree.read([oids.get('a/x.md') ?? ''], 100))
    expect(Buffer.from(bytes ?? [])).toEqual(Buffer.from('text'))
  await worktree.close()
  await rm(root, { recursive: true })
})
