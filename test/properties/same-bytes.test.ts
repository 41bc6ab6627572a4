import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { index } from '#test/support/indexed.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { runs } from '#test/support/runs.ts'
import { MIT } from '../api/support/texts.ts'

let repositories: TestRepositories
let made = 0

beforeAll(async () => {
  repositories = await createRepositories()
})
afterAll(() => repositories.remove())

const skill = (name: string, body = 'Do it.\n', more = '') =>
  `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n${body}`

test('indexing twice gives the same bytes, for any repository', async () => {
  const name = fc.constantFrom(
    'SKILL.md',
    'SKILLSET.md',
    'README.md',
    'LICENSE',
    'a.md',
    'b.txt',
    'c++.md',
    '🙂.md',
    'skill.md',
    'package.json',
  )
  const folder = fc.constantFrom('', 'x/', 'x/y/', 'skills/a/', 'skills/a/references/', '.claude/', 'é/')
  const text = fc.oneof(
    fc.constantFrom(
      MIT,
      skill('a'),
      skill('b', 'See [a](a.md) and `b.txt`.\n', 'include: [a.md]\n'),
      '---\nexclude: [x/]\ninclude: [a.md]\n---\nRules.\n',
      '---\nbroken',
      '',
    ),
    fc.string({ unit: 'grapheme', maxLength: 400 }),
  )
  const files = fc.dictionary(
    fc.tuple(folder, name).map(([at, base]) => at + base),
    text,
    { minKeys: 1, maxKeys: 12, noNullPrototype: true },
  )
  await fc.assert(
    fc.asyncProperty(files, async contents => {
      const repository = await repositories.create('acme', `r${made++}`)
      const commit = await repository.commit(contents)
      const [first, second] = [
        await index(repository, commit, repositories.root),
        await index(repository, commit, repositories.root),
      ]
      expect(await first.objects()).toEqual(await second.objects())
    }),
    { numRuns: runs(40) },
  )
})
