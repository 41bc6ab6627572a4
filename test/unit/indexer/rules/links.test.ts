import { describe, expect, test } from 'vitest'
import { LINKED_ENTRIES, PACKAGE_FILES, PATH_BYTES, TREE_DEPTH_SEGMENTS } from '#core/limits.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { planPackages } from '#indexer/rules/packages.ts'
import { buildTree } from '#indexer/rules/tree.ts'
import { type PlannedContent, planOf } from '#test/support/planned.ts'
import { reason } from '#words/findings.ts'
import { MIT, skillText } from '../../../api/support/texts.ts'

type Content = 'file' | 'submodule' | 'missing' | { link: string }

const MODES = { file: '100644', missing: '100644', submodule: '160000' } as const

/** The tree of these paths. What links give is told as `path: where it lies`. */
function treeOf(files: Readonly<Record<string, Content>>) {
  const links = new Map<string, string>()
  const entries = Object.entries(files).map(([path, content]) => {
    if (typeof content === 'object') links.set(`link ${path}`, content.link)
    return typeof content === 'object'
      ? { path, mode: '120000' as const, oid: `link ${path}`, sizeBytes: content.link.length }
      : { path, mode: MODES[content], oid: path, sizeBytes: content === 'file' ? 1 : null }
  })
  const tree = buildTree(entries, links)
  const linked = [...tree.folders.values()].flatMap(folder =>
    [...folder.files.values()].flatMap(({ path, target, mode }) => (target ? [`${path}: ${mode} ${target}`] : [])),
  )
  return { tree, linked: linked.sort(), codes: tree.diagnostics.map(({ code }) => code) }
}

/** Folders each of which has a file, and a link to the next one. */
function chainOf(length: number): Record<string, Content> {
  return Object.fromEntries(
    Array.from({ length }, (_, at): [string, Content][] => [
      [`d${at}/x`, at === length - 1 ? 'file' : { link: `../d${at + 1}` }],
      [`d${at}/f`, 'file'],
    ]).flat(),
  )
}

describe('a folder that a link gives', () => {
  test('has its contents: files, submodules, missing blobs, and dangling links', () => {
    const { linked } = treeOf({
      'a/own': { link: '../shared' },
      'shared/file.md': 'file',
      'shared/module': 'submodule',
      'shared/missing.md': 'missing',
      'shared/dead.md': { link: 'none.md' },
      'shared/back': { link: '../a' },
      'shared/link.md': { link: 'file.md' },
    })
    expect(linked).toEqual([
      'a/own/back: 120000 shared/back',
      'a/own/dead.md: 120000 shared/dead.md',
      'a/own/file.md: 100644 shared/file.md',
      'a/own/link.md: 100644 shared/file.md',
      'a/own/missing.md: 100644 shared/missing.md',
      'a/own/module: 160000 shared/module',
      'shared/back/own: 120000 a/own',
      'shared/link.md: 100644 shared/file.md',
    ])
  })

  test('is no submodule, nor what lies in one', () => {
    expect(treeOf({ module: 'submodule', a: { link: 'module' }, b: { link: 'module/file.md' } }).linked).toEqual([])
  })
})

describe('chains of links', () => {
  test('give paths up to the limits of a path, and longer ones are reported', () => {
    const { tree, linked, codes } = treeOf(chainOf(5_000))
    const depths = linked.map(path => (path.split(':')[0] ?? '').split('/').length)
    expect(Math.max(...depths)).toBe(TREE_DEPTH_SEGMENTS)
    expect([tree.cut, codes]).toEqual([true, ['tree.limit', 'tree.limit']])
    expect(tree.isPartial('d0/x' as RepoPath)).toBe(true)
  })

  test('give no path of too many bytes', () => {
    const long = (n: number) => `${n}${'x'.repeat(250)}`
    const { tree, linked } = treeOf({
      [`${long(1)}/${long(2)}/${long(3)}/a`]: { link: '../../../b' },
      [`b/${long(4)}/short.md`]: 'file',
      [`b/${long(5)}/${'y'.repeat(30)}.md`]: 'file',
    })
    expect(linked).toEqual([`${long(1)}/${long(2)}/${long(3)}/a/${long(4)}/short.md: 100644 b/${long(4)}/short.md`])
    expect(linked.every(path => Buffer.byteLength(path.split(':')[0] ?? '') <= PATH_BYTES)).toBe(true)
    expect(tree.isPartial(`${long(1)}/${long(2)}/${long(3)}/a/${long(5)}` as RepoPath)).toBe(true)
    expect(tree.isPartial(`${long(1)}/${long(2)}/${long(3)}/a/${long(4)}` as RepoPath)).toBe(false)
  })

  test('give a limited number of files and folders, even if they multiply', () => {
    const files: Record<string, Content> = { 'd6/x': 'file' }
    for (let level = 0; level < 6; level++) for (let n = 0; n < 10; n++) files[`d${level}/l${n}`] = { link: `../d${level + 1}` }
    const { tree, linked, codes } = treeOf(files)
    const folders = [...tree.folders.values()].filter(({ target }) => target)
    expect(linked.length + folders.length).toBeLessThanOrEqual(LINKED_ENTRIES)
    expect(codes).toEqual(['tree.limit'])
  })
})

describe('beyond the limit of linked files', () => {
  const names = Array.from({ length: LINKED_ENTRIES / 2 }, (_, n) => `many/${n}.md`)

  test('a folder is left out whole, with a mark at the folders above it, and smaller ones are given', () => {
    const { tree, linked, codes } = treeOf({
      ...Object.fromEntries(names.map(name => [name, 'file' as const])),
      'a/all': { link: '../many' },
      'b/all': { link: '../many' },
      'c/one.md': { link: '../many/1.md' },
    })
    expect(['a', 'b', 'c'].map(name => linked.filter(path => path.startsWith(name)).length)).toEqual([names.length, 0, 1])
    expect(['', 'a', 'b', 'c'].map(folder => tree.isPartial(folder as RepoPath))).toEqual([true, false, true, false])
    expect(tree.file('b/all' as RepoPath)?.mode).toBe('120000')
    expect([tree.cut, codes]).toEqual([true, ['tree.limit']])
  })

  test('a skill that lacks files is incomplete: clients cannot install it, and it is no copy', () => {
    const skill = (folder: string): Record<string, PlannedContent> => ({
      [`${folder}/SKILL.md`]: skillText('x'),
      [`${folder}/all`]: { link: '../many' },
    })
    const files = Object.fromEntries(names.map(name => [name, { sizeBytes: 1, oid: 'blob' }]))
    const { plan } = planOf({ LICENSE: MIT, ...files, ...skill('a'), ...skill('b'), 'c/SKILL.md': skillText('c') })
    const { plans, refusals } = planPackages(plan)
    expect(plans.map(({ planned }) => planned.skill.directory)).toEqual(['c'])
    expect([...refusals].map(([{ skill }, refusal]) => [skill.directory, refusal])).toEqual([
      ['a', reason('tooManyFiles', { limit: PACKAGE_FILES })],
      ['b', reason('filesLeftOut')],
    ])
    expect(plan.skills.filter(({ copyOf }) => copyOf !== null)).toEqual([])
    expect([plan.truncated, plan.tree.diagnostics.map(({ code }) => code)]).toEqual([true, ['tree.limit']])
  })

  test('a license counts all the same', () => {
    const files = Object.fromEntries([...names, ...names.slice(1).map(name => `${name}x`)].map(name => [name, { sizeBytes: 1 }]))
    const { plan } = planOf({
      LICENSE: MIT,
      ...files,
      'a/all': { link: '../many' },
      'b/LICENSE': { link: '../own/LICENSE' },
      'own/LICENSE': 'All rights reserved.',
    })
    expect(plan.tree.file('b/LICENSE' as RepoPath)?.mode).toBe('120000')
    expect(plan.licenseOf('b' as RepoPath).license).toEqual({ kind: 'restricted', name: null, source: 'own/LICENSE' })
  })
})
