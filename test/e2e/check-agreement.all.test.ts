import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Checked } from '#indexer/check/schema.ts'
import { type Client, joinSkill } from '#test/support/joined.ts'
import { testApp } from '#test/support/test-app.ts'
import { check, git, root, useCheckScene, useFolder } from './check-scene.ts'

useCheckScene()

const HANDBOOK = fileURLToPath(new URL('../../examples/handbook', import.meta.url))

test('the check of a committed repository equals the interface, skill by skill, whole and by folder', async () => {
  useFolder('handbook')
  await cp(HANDBOOK, root, { recursive: true })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  const names = (await readdir(HANDBOOK, { recursive: true, withFileTypes: true })).filter(entry => entry.isFile())
  const files = await Promise.all(
    names.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(HANDBOOK.length + 1), await readFile(path)] as const
    }),
  )
  const app = await testApp({ 'mountglass/handbook': Object.fromEntries(files) })
  try {
    await app.open('/local/mountglass/handbook')
    const client: Client = { get: (name, address, query) => app.ask(name, address, query) }
    for (const [address, folder] of [
      ['/local/mountglass/handbook', root],
      ['/local/mountglass/handbook@main/reviewing', join(root, 'reviewing')],
    ] as const) {
      const { index } = await app.ask('mounts', address)
      if (index.status !== 'ready') throw new Error(index.status)
      const { report } = await check([folder])
      expect(report.counts).toEqual(index.counts)
      expect(report.license).toEqual(index.license)
      expect(report.manifest).toEqual(index.manifest ?? null)
      expect(report.documents).toEqual(index.documents)
      expect(report.truncated).toEqual(index.truncated)
      expect(report.skills.filter(skill => skill.listed).map(skill => skill.path)).toEqual(index.skills.map(skill => skill.path))
      expect(report.skills.length).toBeGreaterThan(3)
      for (const diagnostic of index.diagnostics) expect(report.findings).toContainEqual(expect.objectContaining(diagnostic))
      for (const skill of report.skills) {
        const joined = await joinSkill(client, address, skill.path)
        expect({ path: skill.path, ...shapeOf(skill) }).toEqual({ path: skill.path, ...delivered(joined) })
      }
    }
  } finally {
    await app.close()
  }
})

/** What the check says, in the words of the interface. */
function shapeOf({ delivery, license, warnings, name, description }: Checked['skills'][number]) {
  const metadata = { name, description, license }
  if (delivery.kind === 'described') return { ...metadata, warnings, full: false, pages: 1, complete: true }
  const { pages, complete, rules, body, includes, files, references, characters, bytes } = delivery
  const outsideWarnings = delivery.outside.map(path => ({
    code: 'reference.outside',
    level: 'style',
    message: expect.stringContaining(path),
  }))
  const sizes = (pieces: typeof rules) => pieces.map(piece => [piece.path, piece.characters, piece.bytes])
  return {
    ...metadata,
    warnings: [...warnings, ...outsideWarnings],
    full: true,
    pages,
    complete,
    rules: sizes(rules),
    body: [body.characters, body.bytes],
    includes: sizes(includes),
    files,
    references,
    total: [characters, bytes],
  }
}

function delivered({ first, complete, pages, rules, body, includes }: Awaited<ReturnType<typeof joinSkill>>) {
  const { name, description, warnings, serving } = first
  const metadata = { name, description, license: serving.license, warnings, full: serving.full, pages, complete }
  if (!serving.full) return metadata
  const size = (text: string) => [[...text].length, Buffer.byteLength(text)] as const
  const sizes = (pieces: typeof rules) => pieces.map(({ path, text }) => [path, ...size(text)])
  const all = [...rules, ...includes].map(piece => piece.text).join('') + body
  return {
    ...metadata,
    rules: sizes(rules),
    body: size(body),
    includes: sizes(includes),
    files: first.files,
    references: first.references,
    total: size(all),
  }
}
