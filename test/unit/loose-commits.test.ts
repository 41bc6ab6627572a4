import { afterAll, expect, test } from 'vitest'
import { createRepositories } from '#test/support/repository.ts'

const repositories = await createRepositories()
afterAll(() => repositories.remove())

test('commits that the test support writes itself have the ids that git gives them', async () => {
  const one = await repositories.create('acme', 'tools')
  const first = await one.commit({
    'a.md': 'a',
    'a/b/c.md': 'c',
    'a.b': 'dot',
    'ä/ü.md': 'é',
    'run.sh': { mode: '100755', content: '#!/bin/sh\n' },
    link: { link: 'a.md' },
    module: { submodule: '0123456789012345678901234567890123456789' },
  })
  const second = await one.commit({ a: 'a file where a folder was', 'a.md': null, 'x/y/z': new Uint8Array([0, 1]) })
  const third = await one.commit({ 'a/again.md': 'a folder where a file was', x: null }, { message: 'Third\n\nBody.\n' })
  const side = await one.commit({ only: 'this' }, { branch: 'side', parent: first, replace: true, date: 1 })
  const loose = await one.commit({ none: 'no ref' }, { branch: null })
  const root = await one.commit({ new: 'history' }, { parent: null })
  // As `git fast-import` made them.
  expect({ first, second, third, side, loose, root }).toEqual({
    first: '9f83c0819394ded3ac6b80b0c1d13191213af20b',
    second: '23dceda54e7e31b5e70265c8249e4ca5f662988c',
    third: '0e17c27748e4678f8a4b25b652a3a009061acd7b',
    side: 'd3208087354c23dd566ede11c60fbc6b526df053',
    loose: '73461043a53e1f26155760d59dd89035c6f9cf52',
    root: '471415eba2c545fb3be536199f6f33dbb06cc1a8',
  })
  expect(await one.git('show-ref')).toBe(`${root} refs/heads/main\n${side} refs/heads/side`)
  expect(await one.git('fsck', '--strict', '--no-dangling')).toBe('')
})

test('a commit upon one that git made is made by git', async () => {
  const one = await repositories.create('acme', 'large')
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}.md`, `${index}`]))
  await one.commit(many)
  await one.commit({ 'more.md': 'more' })
  expect((await one.git('ls-tree', '--name-only', 'main')).split('\n')).toHaveLength(101)
})
