import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { emptyLock, formatLockFile, type LockFile, LockFileError, parseLockFile } from '#cli/lock/lock-file.ts'

const DIGEST = 'a'.repeat(64)
const COMMIT = 'b'.repeat(40)

const Digest = fc.stringMatching(/^[0-9a-f]{64}$/)
// Names that a repository may have, odd ones among them.
const Name = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1 }),
  fc.constantFrom('__proto__', '"path": "x",\n', '\u202e', '{ "sha256" }'),
)
const Texts = fc.uniqueArray(fc.record({ path: Name, sha256: Digest }), { selector: text => text.path, maxLength: 2 })
const License = fc.record({
  kind: fc.constantFrom('open' as const, 'none' as const),
  name: fc.option(Name),
  source: fc.option(Name),
})
const Files = fc.uniqueArray(fc.record({ path: Name, sha256: fc.option(Digest) }), { selector: file => file.path, maxLength: 3 })
const Skills = fc.uniqueArray(
  fc.record(
    {
      path: Name,
      sha256: fc.option(Digest),
      delivery: fc.constantFrom('described' as const, 'incomplete' as const),
      metadata: Digest,
      license: License,
      rules: Texts,
      body: fc.option(Digest),
      includes: Texts,
      files: Files,
    },
    { requiredKeys: ['path', 'sha256', 'metadata', 'license', 'rules', 'body', 'includes', 'files'] },
  ),
  { selector: skill => skill.path, maxLength: 3 },
)
const Lock: fc.Arbitrary<LockFile> = fc.record({
  version: fc.constant(2 as const),
  addresses: fc.uniqueArray(
    fc.record(
      {
        address: fc.constantFrom('/gh/acme/tools', '/gh/acme/tools@v1/skills', '/local/acme/x@feature%2Fy', '/local/a/b'),
        commit: fc.constant(COMMIT),
        partial: fc.constant(true as const),
        skills: Skills,
      },
      { requiredKeys: ['address', 'commit', 'skills'] },
    ),
    { selector: pin => pin.address },
  ),
})

const sorted = (lock: LockFile) => parseLockFile(formatLockFile(lock))

test('a lock file is read as it was written', () => {
  fc.assert(
    fc.property(Lock, lock => {
      const read = sorted(lock)
      expect(formatLockFile(read)).toBe(formatLockFile(lock))
      expect(read.addresses.map(pin => pin.skills.length)).toEqual(
        [...lock.addresses].sort((left, right) => (left.address < right.address ? -1 : 1)).map(pin => pin.skills.length),
      )
    }),
  )
})

test('the order in which addresses were pinned does not change the file', () => {
  fc.assert(
    fc.property(Lock, lock => {
      const turned = {
        ...lock,
        addresses: [...lock.addresses].reverse().map(pin => ({
          ...pin,
          skills: [...pin.skills].reverse().map(skill => ({ ...skill, files: [...skill.files].reverse() })),
        })),
      }
      expect(formatLockFile(turned)).toBe(formatLockFile(lock))
    }),
  )
})

test('a file is one line, and a hidden character is escaped', () => {
  const files = [
    { path: 'a/SKILL.md', sha256: DIGEST },
    { path: 'a/\u202etxt.exe', sha256: null },
  ]
  const license = { kind: 'open', name: 'MIT', source: 'LICENSE' } as const
  const rules = [{ path: 'SKILLSET.md', sha256: DIGEST }]
  const skills = [{ path: 'a/SKILL.md', sha256: DIGEST, metadata: DIGEST, license, rules, body: DIGEST, includes: [], files }]
  const text = formatLockFile({ version: 2, addresses: [{ address: '/gh/acme/tools', commit: COMMIT, skills }] })
  expect(text).toContain(`            { "path": "a/SKILL.md", "sha256": "${DIGEST}" },\n`)
  expect(text).toContain('{ "path": "a/\\u202etxt.exe", "sha256": null }')
  expect(text).toContain(`            { "path": "SKILLSET.md", "sha256": "${DIGEST}" }\n`)
  expect(text).toContain('          "license": { "kind": "open", "name": "MIT", "source": "LICENSE" },\n')
  expect(text).toContain(`          "sha256": "${DIGEST}",\n          "metadata": "${DIGEST}",`)
})

describe('a lock file is refused', () => {
  const pin = { address: '/gh/acme/tools', commit: COMMIT, skills: [] }
  test.each([
    ['that is cut off', '{"version":1,"addresses":[', /is damaged \(.*restore it from version control/],
    ['that is something else', '[]', /is damaged/],
    ['without a version', '{"addresses":[]}', /is damaged \(version: /],
    ['of an older version', '{"version":1,"addresses":[]}', /is of version 1, .*: remove it, and pin its addresses again/],
    ['of a newer version', '{"version":3,"pins":{}}', /is of version 3, .* reads up to version 2: use the version of Mountglass/],
    ['with a short commit', JSON.stringify({ version: 2, addresses: [{ ...pin, commit: 'abc' }] }), /addresses\.0\.commit/],
    [
      'with a mistyped address',
      JSON.stringify({ version: 2, addresses: [{ ...pin, address: 'gh/acme' }] }),
      /not a canonical address/,
    ],
    ['with an address that is there twice', JSON.stringify({ version: 2, addresses: [pin, pin] }), /acme\/tools is there twice/],
    ['with an unknown key', JSON.stringify({ version: 2, addresses: [], more: 1 }), /is damaged/],
  ])('%s', (_what, text, says) => {
    expect(() => parseLockFile(text)).toThrow(LockFileError)
    expect(() => parseLockFile(text)).toThrow(says)
  })
})

test('an empty lock file is one', () => {
  expect(parseLockFile(formatLockFile(emptyLock()))).toEqual(emptyLock())
})
