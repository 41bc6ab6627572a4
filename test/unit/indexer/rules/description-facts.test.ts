import { expect, test } from 'vitest'
import { factsOfDescription } from '#indexer/rules/skill.ts'

test('a fact has the line of its place in the field', () => {
  const head = '---\nname: a\ndescription: >\n  See https://one.example/\n  and https://two.example/.\nlicense: MIT\n---\n'
  expect(factsOfDescription(head, 'See https://one.example/ and https://two.example/.\n')).toEqual({
    hosts: [
      ['one.example', 4],
      ['two.example', 5],
    ],
  })
})

test('a fact of an escaped text has the line of the field', () => {
  const head = '---\nname: a\n"description": "Use\\u202e `npx a`"\n---\n'
  expect(factsOfDescription(head, 'Use\u202e `npx a`')).toEqual({ hidden: [['U+202E', 1, 3]], commands: [['npx a', 3]] })
})

test('a description without facts has none', () => {
  expect(factsOfDescription('---\ndescription: See https://x.example/\n---\n', 'Plain.')).toEqual({})
})
