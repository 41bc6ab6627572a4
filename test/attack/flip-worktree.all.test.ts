import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openWorktree } from '#infra/worktree/reader.ts'
import { startFlipping } from './flipping.ts'

test('a folder that flips into a link out of the working folder gives nothing from there', async () => {
  const scratch = await realpath(await mkdtemp(join(tmpdir(), 'mountglass-flip-')))
  const [root, outside] = [join(scratch, 'root'), join(scratch, 'outside')]
  try {
    for (const [folder, text] of [
      [join(root, 'docs'), 'Own.\n'],
      [outside, 'Far.\n'],
    ] as const) {
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'a.md'), text)
      await symlink(text.trim(), join(folder, 'link'))
    }
    await symlink(outside, join(root, '.evil'))
    const stop = startFlipping([{ path: join(root, 'docs'), evil: join(root, '.evil'), parked: join(root, '.parked') }])
    const seen = await readAgainAndAgain(root)
    expect(await stop()).toBeGreaterThan(0)
    expect([...seen].filter(text => /far/i.test(text))).toEqual([])
    expect(seen).toContain('Own.\n')
  } finally {
    await rm(scratch, { recursive: true })
  }
})

/** The texts of what lies in the folder `docs`, until it was there and not there often enough. */
async function readAgainAndAgain(root: string): Promise<Set<string>> {
  const seen = new Set<string>()
  for (let [found, absent] = [0, 0]; found < 300 || absent < 20; ) {
    const worktree = await openWorktree(root, { treeEntries: 100, seconds: 60 })
    const oids: string[] = []
    for await (const { path, oid } of worktree.entries()) if (path?.startsWith('docs/')) oids.push(oid)
    for await (const { bytes } of worktree.read(oids, 1_000)) if (bytes) seen.add(Buffer.from(bytes).toString())
    found += oids.length
    if (oids.length === 0) absent++
    await worktree.close()
  }
  return seen
}
