import { expect, test } from 'vitest'
import { INDEXED_TEXT_BYTES, MANIFEST_BYTES, READABLE_FILE_BYTES } from '#core/limits.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { encodeText } from '#core/text.ts'
import { readLicenses, readManifests, readSkills } from '#indexer/pipeline/index-repository.ts'
import { planContent } from '#indexer/rules/plan.ts'
import { buildTree } from '#indexer/rules/tree.ts'
import { applyManifests } from '#indexer/rules/withheld.ts'
import { MIT, skillText } from '../../../api/support/texts.ts'

test('the files of a skill that is not read for want of budget are not served', async () => {
  const count = INDEXED_TEXT_BYTES / READABLE_FILE_BYTES
  const folders = Array.from({ length: count }, (_, index) => `s${String(index).padStart(5, '0')}`)
  const file = (path: string, sizeBytes: number) => ({ path, mode: '100644' as const, oid: path, sizeBytes })
  const tree = buildTree([
    file('LICENSE', MIT.length),
    // Leaves less than the last skill needs, and more than its other file does.
    file('a/SKILL.md', 1024),
    ...folders.flatMap(folder => [file(`${folder}/SKILL.md`, READABLE_FILE_BYTES), file(`${folder}/x.md`, 1)]),
  ])
  const blobs = {
    async *read(oids: readonly string[]) {
      for (const oid of oids) yield { oid, bytes: encodeText(oid === 'LICENSE' ? MIT : skillText('s')) }
    },
  }
  const policy = applyManifests(tree, () => null, 'repository')
  const { parsed, truncated } = await readSkills(blobs, policy, 'repository')
  const { licenses } = await readLicenses(blobs, tree, policy, parsed)
  const plan = planContent(tree, policy, parsed, licenses, 'public')

  const last = folders.at(-1) as RepoPath
  expect([parsed.length, truncated]).toEqual([count, true])
  expect(plan.files.filter(({ served }) => !served).map(({ file }) => file.path)).toEqual([`${last}/x.md`])
  expect(plan.licenseOf(last).license).toEqual({ kind: 'unknown', name: null, source: `${last}/SKILL.md` })
})

test('equal manifests and skills count once towards the text of an index, since symlinks give them many paths', async () => {
  const count = 2 * Math.ceil(INDEXED_TEXT_BYTES / MANIFEST_BYTES)
  const at = (name: string, oid: string, sizeBytes: number) =>
    Array.from({ length: count }, (_, n) => ({ path: `${oid}${n}/${name}`, mode: '100644' as const, oid, sizeBytes }))
  const tree = buildTree([...at('SKILLSET.md', 'm', MANIFEST_BYTES), ...at('SKILL.md', 's', READABLE_FILE_BYTES)])
  const read: string[] = []
  const blobs = {
    async *read(oids: Iterable<string>) {
      for (const oid of oids) {
        read.push(oid)
        yield { oid, bytes: encodeText(oid === 'm' ? '---\n---\n' : skillText('s')) }
      }
    },
  }
  const bytesOf = await readManifests(blobs, tree)
  expect([bytesOf('m')?.length, read]).toEqual([8, ['m']])
  const { parsed, truncated } = await readSkills(blobs, applyManifests(tree, bytesOf, 'repository'), 'repository')
  expect([parsed.length, truncated]).toEqual([count, false])
})
