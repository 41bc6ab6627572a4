import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareVersions, readVersionName, type VersionName } from '#core/version-name.ts'

const read = (name: string): VersionName => readVersionName(name) as VersionName

describe('the version in the name of a tag', () => {
  test.each([
    ['v1', '', '1', ''],
    ['1.02.3', '', '1.2.3', ''],
    ['V2.0', '', '2.0', ''],
    ['skills-v1.2', 'skills-', '1.2', ''],
    ['@acme/tools@3.0.0-rc.1+build.7', '@acme/tools@', '3.0.0', 'rc.1'],
    ['v1.0.0-beta2', '', '1.0.0', 'beta.2'],
    ['v1.0b1', '', '1.0', 'b.1'],
    ['1.2.3-security.4', '', '1.2.3', 'security.4'],
    ['release-2026-11-30', 'release-', '2026.11.30', ''],
    ['2026.11', '', '2026.11', ''],
    ['rev7', 'rev', '7', ''],
    ['tools2-v1.0.0', 'tools2-', '1.0.0', ''],
    ['a-1.0.0-b-2.0.0', 'a-1.0.0-b-', '2.0.0', ''],
  ])('%s', (name, prefix, numbers, preRelease) => {
    const { prefix: found, ...version } = read(name)
    expect([found, version.numbers.join('.'), version.preRelease.join('.')]).toEqual([prefix, numbers, preRelease])
  })

  test.each(['', 'latest', 'v', 'stable-x', `v${'1'.repeat(31)}`, `${'a'.repeat(100)}1`])('is none in %j', name => {
    expect(readVersionName(name)).toBeNull()
  })

  test('a pre-release comes before its release, and numbers go by their value', () => {
    const ordered = [
      'v1.0.0-alpha',
      'v1.0.0-alpha.2',
      'v1.0.0-beta',
      'v1.0.0-rc.2',
      'v1.0.0-rc.10',
      'v1.0.0',
      'v1.0.1',
      'v1.2',
      'v1.10',
    ]
    expect(ordered.toReversed().sort((left, right) => compareVersions(read(left), read(right)))).toEqual(ordered)
    expect(compareVersions(read('v1'), read('1.0.0'))).toBe(0)
  })

  test('the order is one, whatever the names are', () => {
    const name = fc.stringMatching(/^[v.a-c0-2-]{1,8}[0-2]$/)
    fc.assert(
      fc.property(name, name, name, (one, two, three) => {
        const [a, b, c] = [one, two, three].map(readVersionName)
        if (!a || !b || !c) return
        expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) + 0)
        if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) expect(compareVersions(a, c)).toBeLessThanOrEqual(0)
      }),
    )
  })
})
