import { describe, expect, test } from 'vitest'
import { withMessage } from '#core/finding-messages.ts'
import { INCLUDE_FILE_BYTES, INCLUDE_FILES } from '#core/limits.ts'
import { includeCandidates, manifestIncludeFailures, resolveIncludes } from '#indexer/rules/includes.ts'
import { manifestsAbove } from '#indexer/rules/rule-chain.ts'
import { type PlannedContent, planOf } from '#test/support/planned.ts'
import { MIT, skillText } from '../../../api/support/texts.ts'

/** Includes of the skill `x/a`, whose front matter and other files are given. */
function resolve(include: string, files: Record<string, PlannedContent> = {}, isText: (oid: string) => boolean = () => true) {
  const stateOf = (oid: string) => (isText(oid) ? ('text' as const) : ('not_text' as const))
  const { plan, policy, skill } = planOf({ LICENSE: MIT, 'x/a/SKILL.md': skillText('a', 'Body.\n', include), ...files })
  const planned = skill('x/a/SKILL.md')
  const chainOf = (folder: Parameters<typeof manifestsAbove>[1]) => manifestsAbove(policy.manifests, folder)
  const { files: found, failures } = resolveIncludes(chainOf(planned.skill.directory), planned.skill, plan, stateOf)
  return {
    files: found.map(({ path }) => path),
    failures: failures.map(({ code }) => code),
    messages: failures.map(failure => withMessage(failure).message),
    by: failures.map(({ by }) => by),
    candidates: includeCandidates(plan, chainOf).map(({ path }) => path),
  }
}

describe('the target of an include', () => {
  test.each([
    ['own.md', 'x/a/own.md'],
    ['./own.md', 'x/a/own.md'],
    ['../near.md', 'x/near.md'],
    ['../../top.md', 'top.md'],
    ['/top.md', 'top.md'],
    ['//top.md', 'top.md'],
    ['/x/../top.md', 'top.md'],
    ['a%20b.md', null],
    ['*.md', null],
    ['https://example.org/a.md', null],
    ['../../../top.md', null],
    ['..', null],
    ['', null],
    ['/', null],
    ['OWN.md', null],
  ])('%j is %j', (declared, path) => {
    const files = { 'x/a/own.md': 'x', 'x/near.md': 'x', 'top.md': 'x', 'x/a/a b.md': 'x' }
    const answer = resolve(`include: ${JSON.stringify([declared])}\n`, files)
    expect(answer).toMatchObject({ files: path === null ? [] : [path], failures: path === null ? ['include.missing'] : [] })
    expect(answer.candidates).toEqual(answer.files)
  })

  test.each<[string, string]>([
    ['a list', 'include: [own.md, /top.md]\n'],
    ['words', 'include: own.md /top.md\n'],
    ['words over lines', 'include: >\n  own.md\n  /top.md\n'],
    ['in the metadata', 'metadata: { include: own.md /top.md }\n'],
  ])('declared as %s', (_name, include) => {
    expect(resolve(include, { 'x/a/own.md': 'x', 'top.md': 'x' })).toMatchObject({
      files: ['x/a/own.md', 'top.md'],
      failures: [],
    })
  })
})

test('each value that is no path of the repository is named', () => {
  const { messages, failures } = resolve(
    'include: ["https://example.org/a.md", "", "/", ../../../x.md, "b:c", "../../../x.md"]\n',
  )
  expect(messages).toEqual([
    '"https://example.org/a.md" is a URL: an include is a path of this repository',
    '"" is empty: an include is a path of this repository',
    '"/" is the root of the repository: an include is a file',
    '"../../../x.md" leads out of the repository',
    '"b:c" is a URL: an include is a path of this repository',
  ])
  expect(new Set(failures)).toEqual(new Set(['include.missing']))
})

test('manifests come first, root first, each path from its own folder; every file once, at its first place', () => {
  const files = {
    'SKILLSET.md': '---\ninclude: [style.md, x/near.md]\n---\n',
    'x/SKILLSET.md': '---\ninclude: [near.md, ../other.md]\n---\n',
    'style.md': 'x',
    'other.md': 'x',
    'x/near.md': 'x',
    'x/a/own.md': 'x',
  }
  expect(resolve('include: [own.md, ../../style.md, own.md]\n', files)).toMatchObject({
    files: ['style.md', 'x/near.md', 'other.md', 'x/a/own.md'],
    failures: [],
  })
})

describe('a file that the context already contains is not included again', () => {
  test.each<[string, string, Record<string, PlannedContent>, string[]]>([
    ['the skill itself', 'include: [SKILL.md, own.md]\n', {}, ['x/a/own.md']],
    ['rules above', 'include: [/SKILLSET.md, own.md]\n', { 'SKILLSET.md': '---\nname: R\n---\nBe brief.\n' }, ['x/a/own.md']],
    [
      'a manifest without rules is not there',
      'include: [/SKILLSET.md]\n',
      { 'SKILLSET.md': '---\nname: R\n---\n' },
      ['SKILLSET.md'],
    ],
    [
      'rules of elsewhere are not there',
      'include: [/y/SKILLSET.md]\n',
      { 'y/SKILLSET.md': '---\nname: R\n---\nBe.\n' },
      ['y/SKILLSET.md'],
    ],
  ])('%s', (_name, include, files, delivered) => {
    expect(resolve(include, { 'x/a/own.md': 'x', ...files })).toMatchObject({ files: delivered, failures: [] })
  })
})

describe('a malformed include is required reading that is missing', () => {
  test.each<[string, string, Record<string, PlannedContent>, string]>([
    ['of the skill', 'include: { own: own.md }\n', {}, 'x/a/SKILL.md'],
    ['of its metadata', 'metadata: { include: { own: own.md } }\n', {}, 'x/a/SKILL.md'],
    ['of a list', 'include: [[own.md]]\n', {}, 'x/a/SKILL.md'],
    ['of a manifest above', '', { 'SKILLSET.md': '---\ninclude: { a: b }\n---\n' }, 'SKILLSET.md'],
  ])('%s', (_name, include, files, by) => {
    const answer = resolve(include, { 'x/a/own.md': 'x', ...files })
    expect(answer).toMatchObject({ files: [], failures: ['include.missing'], by: [by], messages: ['must be a list of paths'] })
  })
})

describe('the failed includes of a manifest', () => {
  const BINARY = '\0'
  const failuresOf = (files: Record<string, PlannedContent>) =>
    manifestIncludeFailures(planOf({ LICENSE: MIT, ...files }).plan, oid => (oid === BINARY ? 'not_text' : 'text')).map(
      ({ by, code }) => [by, code],
    )
  const manifest = { 'x/SKILLSET.md': '---\ninclude: [gone.md, ../data.md, a/SKILL.md]\n---\n', 'data.md': BINARY }
  const failures = [
    ['x/SKILLSET.md', 'include.missing'],
    ['x/SKILLSET.md', 'include.not_text'],
  ]

  test.each<[string, Record<string, PlannedContent>]>([
    ['two skills', { 'x/b/SKILL.md': skillText('b') }],
    ['a skill with includes of its own', { 'x/b/SKILL.md': skillText('b', 'Body.\n', 'include: [nowhere.md]\n') }],
    ['a skill that is described only', { 'x/b/SKILL.md': skillText('b', 'Body.\n', 'license: Proprietary\n') }],
    ['another manifest', { 'x/b/SKILLSET.md': '---\nname: B\ninclude: [SKILLSET.md]\n---\nRule.\n' }],
  ])('are the same above %s', (_name, files) => {
    expect(failuresOf({ ...manifest, 'x/a/SKILL.md': skillText('a'), ...files })).toEqual(failures)
  })

  test('are reported even without a skill below, and count those of manifests above', () => {
    const list = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}.md`)
    const files = Object.fromEntries([...list('f', 9), ...list('x/f', 8)].map(path => [path, 'x']))
    const declared = (count: number) => `---\ninclude: [${list('f', count).join(', ')}]\n---\n`
    expect(failuresOf({ ...files, 'SKILLSET.md': declared(9), 'x/SKILLSET.md': declared(8) })).toEqual([
      ['x/SKILLSET.md', 'include.too_large'],
    ])
    expect(failuresOf({ ...files, 'SKILLSET.md': declared(8), 'x/SKILLSET.md': declared(8) })).toEqual([])
  })
})

describe('a missing file has its code', () => {
  test.each<[string, string, Record<string, PlannedContent>]>([
    ['include.missing', 'gone.md', {}],
    ['include.missing', 'folder', { 'x/a/folder/a.md': 'x' }],
    ['include.missing', 'link.md', { 'x/a/link.md': { link: 'none.md' } }],
    ['include.missing', 'blob.md', { 'x/a/blob.md': { sizeBytes: null } }],
    ['include.missing', '/hushed/a.md', { 'hushed/SKILLSET.md': '---\nbroken', 'hushed/a.md': 'x' }],
    ['include.excluded', '/hushed.md', { 'SKILLSET.md': '---\nexclude: [hushed.md]\n---\n', 'hushed.md': 'x' }],
    ['include.excluded', '/hushed/a.md', { 'SKILLSET.md': '---\nexclude: [hushed/]\n---\n', 'hushed/a.md': 'x' }],
    ['include.too_large', 'big.md', { 'x/a/big.md': { sizeBytes: INCLUDE_FILE_BYTES + 1 } }],
    ['include.not_served', '/y/a.md', { 'y/LICENSE': 'All rights reserved.\n', 'y/a.md': 'x' }],
  ])('%s: %s', (code, declared, files) => {
    const answer = resolve(`include: [own.md, "${declared}"]\n`, { 'x/a/own.md': 'x', ...files })
    expect(answer).toMatchObject({ files: ['x/a/own.md'], failures: [code] })
    expect(answer.messages.join()).not.toContain('hushed')
    expect(answer.candidates).toEqual(['x/a/own.md'])
  })

  test('include.not_text: a file that is no text', () => {
    expect(resolve('include: [own.md]\n', { 'x/a/own.md': 'x' }, () => false)).toMatchObject({
      files: [],
      failures: ['include.not_text'],
    })
  })
})

describe('bounds', () => {
  const many = (count: number, sizeBytes: number) => ({
    include: `include: [${Array.from({ length: count }, (_, index) => `f${index}.md`).join(', ')}]\n`,
    files: Object.fromEntries(Array.from({ length: count }, (_, index) => [`x/a/f${index}.md`, { sizeBytes }])),
  })

  test.each([
    ['as many files as may be', INCLUDE_FILES, 1, INCLUDE_FILES, []],
    ['one file more', INCLUDE_FILES + 1, 1, INCLUDE_FILES, ['include.too_large']],
    ['as many bytes as may be', 4, INCLUDE_FILE_BYTES, 4, []],
    ['a file more than the bytes allow', 5, INCLUDE_FILE_BYTES, 4, ['include.too_large']],
  ])('%s', (_name, count, sizeBytes, delivered, failures) => {
    const { include, files } = many(count, sizeBytes)
    const answer = resolve(include, files)
    expect({ delivered: answer.files.length, failures: answer.failures }).toEqual({ delivered, failures })
  })
})
