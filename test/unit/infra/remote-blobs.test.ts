import { describe, expect, test } from 'vitest'
import { foldersOf } from '#infra/git/remote-blobs.ts'

describe('folders that are asked for by themselves', () => {
  test.each<[string, string[], string[]]>([
    ['none for what lies at the root', ['a.png', 'b.png'], []],
    ['those that hold the files, while they are few', ['a/b/c.png', 'a/b/d.png', 'x/y.png'], ['a/b', 'x']],
    ['a folder and one below it, where both hold files', ['a/c.png', 'a/b/c.png'], ['a', 'a/b']],
    ['their common parents, if there are too many', ['a/1/x', 'a/2/x', 'a/3/x', 'a/4/x', 'b/c/x'], ['a', 'b']],
    ['some, where there are too many at the top', ['1/x', '2/x', '3/x', '4/x'], ['1', '2', '3']],
    ['none whose name has a line break', ['a\nb/x', 'c/x'], ['c']],
  ])('are %s', (_, paths, folders) => {
    expect(foldersOf(paths, 3).sort()).toEqual(folders)
  })

  test('are found among the maximum of a tree, each deep below a common folder', () => {
    const chain = 'd/'.repeat(60)
    const paths = Array.from({ length: 200_000 }, (_, index) => `${chain}${index}/a.png`)
    expect(foldersOf(paths, 10)).toEqual([chain.slice(0, -1)])
  })

  test('are distinguished to the depth limit of readers', () => {
    const paths = ['a', 'b'].map(name => `${'d/'.repeat(4_000)}${name}/a.png`)
    expect(foldersOf(paths, 10)).toEqual(['d/'.repeat(64).slice(0, -1)])
  })
})
