import { describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import { type BaseTag, chooseBase, type ShownCommit } from '#core/comparison-base.ts'
import { readVersionName } from '#core/version-name.ts'

const sha = (name: string) => Buffer.from(name).toString('hex').padEnd(40, '0') as CommitSha

function tag(name: string, { commit = sha(name), date = null as string | null } = {}): BaseTag {
  return { ref: name, commit, date, version: readVersionName(name) }
}

const PARENT = sha('parent')

/** The tip of the default branch, of a host that knows the history. @param ancestors names of tags that lie behind it */
function shown(ancestors: readonly string[], given: Partial<ShownCommit> = {}): ShownCommit {
  const behind = new Set(ancestors.map(sha))
  return { commit: sha('shown'), date: null, isDefault: true, isAncestor: commit => behind.has(commit), parent: PARENT, ...given }
}

const UNTOLD = { isAncestor: () => null }
const chosen = (base: ReturnType<typeof chooseBase>) => (base.kind === 'tag' ? base.ref : base.kind)

describe('the older side of a comparison', () => {
  test('is the highest version behind the commit, a pre-release below its release', () => {
    const names = ['v1.2', 'v1.10', 'v2.0-rc.1', 'v1.9']
    expect(
      chosen(
        chooseBase(
          shown(names),
          names.map(name => tag(name)),
        ),
      ),
    ).toBe('v2.0-rc.1')
    expect(
      chosen(
        chooseBase(
          shown(['v1.2', 'v1.10']),
          names.map(name => tag(name)),
        ),
      ),
    ).toBe('v1.10')
    expect(chosen(chooseBase(shown(['v2.0-rc.1', 'v2.0']), [tag('v2.0'), tag('v2.0-rc.1')]))).toBe('v2.0')
  })

  test('is not the commit that is shown, under whatever name', () => {
    const tags = [tag('v1'), tag('v2', { commit: sha('shown') }), tag('stable', { commit: sha('shown') })]
    expect(chosen(chooseBase(shown(['v1', 'v2']), tags))).toBe('v1')
  })

  test('of versions of several packages is one of the package with the latest', () => {
    const tags = [
      tag('old@9.0.0', { date: '2024-01-01T00:00:00Z' }),
      tag('new@1.1.0', { date: '2026-01-01T00:00:00Z' }),
      tag('new@1.2.0', { date: '2025-01-01T00:00:00Z' }),
    ]
    expect(chosen(chooseBase(shown(tags.map(({ ref }) => ref)), tags))).toBe('new@1.2.0')
  })

  test('is the tag of the latest commit where no tag is a version', () => {
    const tags = [
      tag('spring', { date: '2025-03-01T00:00:00Z' }),
      tag('winter', { date: '2025-12-01T00:00:00Z' }),
      tag('autumn', { date: '2025-10-01T00:00:00Z' }),
    ]
    expect(chosen(chooseBase(shown(['spring', 'winter', 'autumn']), tags))).toBe('winter')
  })

  test('is the first parent where no tag is older, and nothing at the first commit', () => {
    expect(chooseBase(shown([]), [tag('v1')])).toEqual({ kind: 'parent', commit: PARENT })
    expect(chooseBase(shown([], { parent: null }), [])).toEqual({ kind: 'first' })
    expect(chooseBase(shown([], { parent: undefined }), [])).toEqual({ kind: 'unknown' })
  })

  describe('of a host that does not tell the history', () => {
    test('is not newer by its date', () => {
      const tags = [tag('v1', { date: '2025-01-01T00:00:00Z' }), tag('v2', { date: '2026-01-01T00:00:00Z' })]
      expect(chosen(chooseBase(shown([], { ...UNTOLD, date: '2025-06-01T00:00:00Z' }), tags))).toBe('v1')
    })

    test('without dates is the highest version for the default branch, and a lower one for a version', () => {
      const tags = ['v1.0', 'v1.1', 'v2.0', 'other-3.0'].map(name => tag(name))
      expect(chosen(chooseBase(shown([], UNTOLD), tags.slice(0, 3)))).toBe('v2.0')
      const ofVersion = { ...UNTOLD, isDefault: false, commit: sha('v1.1') }
      expect(chosen(chooseBase(shown([], ofVersion), tags))).toBe('v1.0')
      expect(chosen(chooseBase(shown([], { ...ofVersion, commit: sha('v1.0') }), tags))).toBe('parent')
      expect(chosen(chooseBase(shown([], { ...UNTOLD, isDefault: false }), tags))).toBe('parent')
    })
  })

  test('does not depend on the order of the tags', () => {
    const tags = ['v1', 'v1.0.0', 'spring', 'v0.9', 'b-1'].map(name => tag(name, { date: '2025-01-01T00:00:00Z' }))
    const all = shown(tags.map(({ ref }) => ref))
    expect(chooseBase(all, tags)).toEqual(chooseBase(all, tags.toReversed()))
  })
})
