import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readTar, TarError } from '#infra/github/tar.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'

let repositories: TestRepositories
let archive: Buffer

const LONG = `${'folder/'.repeat(40)}${'name'.repeat(40)}.md`
const FILES = {
  'a.md': 'a',
  'empty.md': '',
  'block.md': 'x'.repeat(512),
  'more.md': 'y'.repeat(70_000),
  [LONG]: 'long',
  '説明.md': 'ü',
}

beforeAll(async () => {
  repositories = await createRepositories()
  const repository = await repositories.create('acme', 'tools')
  const commit = await repository.commit({ ...FILES, link: { link: 'a.md' }, far: { link: LONG } })
  archive = execFileSync('git', ['--git-dir', repository.gitDir, 'archive', '--format=tar', '--prefix=top/', commit])
})

afterAll(() => repositories.remove())

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

async function unpack(bytes: Uint8Array, size = 4_096): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const { path, kind, target, bytes: pieces } of readTar(inPieces(bytes, size))) {
    const read: Uint8Array[] = []
    for await (const piece of pieces()) read.push(Buffer.from(piece))
    found[String(path)] = kind === 'link' ? `-> ${target}` : Buffer.concat(read).toString()
  }
  return found
}

const EXPECTED = {
  ...Object.fromEntries(Object.entries(FILES).map(([path, text]) => [`top/${path}`, text])),
  'top/link': '-> a.md',
  'top/far': `-> ${LONG}`,
}

test.each([1, 7, 511, 512, 513, 1_000_000])('files and links come out whole, in pieces of %i bytes', async size => {
  expect(await unpack(archive, size)).toEqual(EXPECTED)
})

test('what nobody reads is passed over', async () => {
  const paths: (string | null)[] = []
  for await (const { path } of readTar(inPieces(archive, 1_000))) paths.push(path)
  expect(paths.sort()).toEqual(Object.keys(EXPECTED).sort())
})

test('an archive that is cut, damaged or none is an error, or ends', async () => {
  for (let length = 0; length < archive.length; length += 777) {
    const outcome = await unpack(archive.subarray(0, length)).catch((error: unknown) => error)
    if (outcome instanceof Error) expect(outcome).toBeInstanceOf(TarError)
    else for (const [path, text] of Object.entries(outcome as object)) expect(text).toBe(EXPECTED[path as keyof typeof EXPECTED])
  }
  for (let at = 0; at < 4_096; at += 13) {
    const damaged = Buffer.from(archive)
    damaged[at] = (damaged[at] as number) ^ 0x55
    const outcome = await unpack(damaged).catch((error: unknown) => error)
    if (outcome instanceof Error) expect(outcome).toBeInstanceOf(TarError)
  }
  await expect(unpack(Buffer.from('<!doctype html>'.repeat(100)))).rejects.toBeInstanceOf(TarError)
})
