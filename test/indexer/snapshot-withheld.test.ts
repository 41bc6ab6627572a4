import { describe, expect, test } from 'vitest'
import type { Indexed } from '#test/support/indexed.ts'
import { indexFiles, MIT, skill, useRepositories } from './snapshot-scene.ts'

useRepositories()

/** Every byte that was stored: the objects as they are, and unpacked the header, the packs and the search section. */
async function everythingIn({ header, stored, section, objects }: Indexed): Promise<string> {
  const bytes = Object.values(await objects()).map(hex => Buffer.from(hex, 'hex').toString('latin1'))
  const searched = [...(section?.terms.keys() ?? []), ...(section?.words ?? []).map(({ word }) => word)]
  return [...bytes, JSON.stringify(header), stored(), JSON.stringify(section?.items ?? []), ...searched].join('\n')
}

describe('licenses', () => {
  test('without a license everything is described only on a public repository and served on a private one', async () => {
    const files = {
      LICENSE: null,
      'a/SKILL.md': skill('a', 'Secret body.\n'),
      'a/x.md': 'Secret file.\n',
      'docs/d.md': '# D\n\nSummary.\n\nSecret document.\n',
    }
    const open = await indexFiles(files, { visibility: 'private' })
    expect(open.rows('contexts').get('a/SKILL.md')?.full?.body).toBe('Secret body.\n')
    const told = (await everythingIn(open)).match(/Secret (?:body|file|document)/g)
    expect(new Set(told)).toEqual(new Set(['Secret body', 'Secret file', 'Secret document']))

    const closed = await indexFiles(files)
    expect(closed.rows('contexts').get('a/SKILL.md')).not.toHaveProperty('full')
    expect(closed.rows('skills').get('a/SKILL.md')).toMatchObject({ describedOnly: true, license: { kind: 'none' } })
    expect([...closed.rows('files').values()].map(row => row.refusal)).toEqual([
      'file.not_served',
      'file.not_served',
      'file.not_served',
    ])
    const everything = await everythingIn(closed)
    expect(everything).toContain('About a.')
    expect(everything.match(/secret/gi)).toBeNull()
  })
})

describe('withheld content', () => {
  test('is named by no row of any table', async () => {
    const { rows, header } = await indexFiles({
      'SKILLSET.md': '---\nexclude: [hidden/, "*.private.md"]\n---\n',
      'hidden/SKILL.md': skill('hidden'),
      'hidden/skill.md': 'x',
      'docs/a.private.md': '# P\n',
      'docs/a.md': '# A\n',
      'closed/SKILLSET.md': '---\nbroken',
      'closed/deep/SKILL.md': skill('deep'),
    })
    const named = Object.keys(header.tables)
      .filter(name => name !== 'withheld')
      .map(name => JSON.stringify([...rows(name as 'files')]))
      .join('\n')
    expect(named).not.toMatch(/hidden|private|deep/)
    expect([...rows('withheld')]).toEqual([
      ['closed', { reason: 'closed' }],
      ['docs/a.private.md', { reason: 'excluded' }],
      ['hidden', { reason: 'excluded' }],
    ])
    const counts = { skills: 0, documents: 0, files: 0 }
    expect(rows('entries').get('\0closed')).toEqual({ path: 'closed', kind: 'directory', counts, delivered: false })
    expect(header.root.diagnostics).toMatchObject([{ code: 'manifest.unreadable', boundary: 'closed' }])
  })
})

test('content of a closed folder appears nowhere, not even the path of its license file', async () => {
  const { rows } = await indexFiles({ 'closed/SKILLSET.md': '---\nbroken', 'closed/LICENSE': MIT, 'closed/a.md': '# A\n' })
  expect(rows('folders').get('closed')).toEqual({
    counts: { skills: 0, documents: 0 },
    license: { kind: 'unknown', name: null, source: null },
  })
})

test('a license file keeps its effect when it is excluded, but is not named', async () => {
  const { rows, header } = await indexFiles({ 'SKILLSET.md': '---\nexclude: [LICENSE]\n---\n', 'a/SKILL.md': skill('a') })
  expect(header.root.folder.license).toEqual({ kind: 'open', name: 'MIT', source: null })
  expect(rows('skills').get('a/SKILL.md')?.license).toEqual({ kind: 'open', name: 'MIT', source: null })
})

test('an internal skill is in no diagnostic and no reference', async () => {
  const { rows, header } = await indexFiles({
    'a/SKILL.md': skill('a'),
    'a/inner/SKILL.md': skill('inner', 'Do.\n', 'metadata: { internal: true }\ninclude: [gone.md]\nlicense: see NOWHERE.txt\n'),
  })
  expect(header.root.diagnostics).toEqual([])
  expect(rows('contexts').get('a/SKILL.md')?.full?.references).toEqual([])
})
