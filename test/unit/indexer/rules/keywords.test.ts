import { describe, expect, test } from 'vitest'
import type { RepoPath } from '#core/repo-path.ts'
import { parseText } from '#indexer/rules/document.ts'
import { parseSkill } from '#indexer/rules/skill.ts'

const ofDocument = (yaml: string) => parseText('docs/x.md' as RepoPath, `---\n${yaml}\n---\n# X\n`).reading?.keywords ?? ''
const ofSkill = (yaml: string) => parseSkill('a/SKILL.md' as RepoPath, `---\nname: a\n${yaml}\n---\n`, 'r').keywords

describe('keywords', () => {
  test.each([
    ['keywords: [forms, tables]', 'forms\ntables'],
    ['keywords: forms, tables , ', 'forms\ntables'],
    ['tags:\n  - forms\n  - [nested]\n  - tables', 'forms\ntables'],
    ['keywords: [forms]\ntags: forms, 表単、漢字', 'forms\n表単\n漢字'],
    ['keywords: { a: b }', ''],
    ['tags: ""', ''],
    ['title: none', ''],
  ])('%j of a document', (yaml, keywords) => {
    expect(ofDocument(yaml)).toBe(keywords)
  })

  test('of a skill may stand in its metadata too', () => {
    expect(ofSkill('keywords: one\nmetadata:\n  tags: two, three\n  keywords: [four]')).toBe('one\nfour\ntwo\nthree')
  })

  test('are at most twenty of 64 characters', () => {
    const list = Array.from({ length: 30 }, (_, number) => `${'k'.repeat(60)}-${number}-long`)
    const keywords = ofDocument(`keywords: [${list.join(', ')}]`).split('\n')
    expect(keywords).toHaveLength(20)
    expect(keywords[10]).toBe(`${'k'.repeat(60)}-10…`)
  })

  test('no other file has any', () => {
    expect(parseText('a/notes.txt' as RepoPath, '---\nkeywords: forms\n---\n').reading).toBeNull()
  })
})
