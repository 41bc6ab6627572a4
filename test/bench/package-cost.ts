import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { listFiles, listPackages } from '#api/reading/packages.ts'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import { ROOT } from '#core/repo-path.ts'
import { decodeText } from '#core/text.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { jobAt } from '#test/support/answered.ts'
import { commitFolder } from '#test/support/corpus.ts'
import { createRandom } from '#test/support/random.ts'
import type { Service } from '#test/support/service.ts'
import { printTable } from './measure.ts'
import type { BenchRepository } from './repositories.ts'

/** Prints what snapshots hold for programs that install skills: binary files, which nothing else needs, beside the snapshot without them. */
export async function measurePackageCost(
  service: Service,
  root: string,
  store: string,
  repositories: readonly BenchRepository[],
): Promise<void> {
  const host = await openLocalHost({ root, baseUrl: service.baseUrl })
  const blobs = await openDiskBlobStore(store)
  const snapshots = createSnapshotReader(blobs)
  const rows: Record<string, string | number>[] = []
  for (const { owner, name } of [...repositories, await makeWithPictures(root)]) {
    await service.get('mounts', `/local/${owner}/${name}`)
    const { repository, commit } = await jobAt(host, owner, name)
    const snapshot = await snapshots.open(repository, commit)
    if (snapshot === null) throw new Error(`${owner}/${name} is not in the store`)
    const packages = await listPackages(snapshot, ROOT)
    const binaries = new Map<string, number>()
    for (const one of packages) {
      for (const { record } of await listFiles(snapshot, one)) {
        if (decodeText(await snapshot.record(record)) === null) binaries.set(record.join(' '), record[2])
      }
    }
    const kilobytes = [...binaries.values()].reduce((sum, bytes) => sum + bytes, 0) / 1000
    const all = snapshot.header.usedBytes / 1000
    rows.push({
      repository: `${owner}/${name}`,
      'skills to install': packages.length,
      'binary files': binaries.size,
      'snapshot, kB': all,
      'without them, kB': all - kilobytes,
      more: `${Math.round((100 * kilobytes) / (all - kilobytes))} %`,
    })
  }
  await Promise.all([host.close(), blobs.close()])
  printTable('What snapshots hold so that skills can be installed', rows)
}

const PICTURED_SKILLS = 40
const PICTURE_BYTES = 20_000

/** The archives of real repositories hold their text alone; this one has a picture beside every skill, which no compression makes smaller. */
async function makeWithPictures(root: string): Promise<Pick<BenchRepository, 'owner' | 'name'>> {
  const repository = { owner: 'generated', name: 'skills-with-pictures' }
  const source = await mkdtemp(join(root, 'pictures-'))
  const random = createRandom('pictures')
  await writeFile(join(source, 'package.json'), '{"license":"MIT"}\n')
  for (let number = 0; number < PICTURED_SKILLS; number++) {
    const folder = join(source, `skill-${number}`)
    await mkdir(folder)
    await writeFile(
      join(folder, 'SKILL.md'),
      `---\nname: skill-${number}\ndescription: Has a picture.\n---\n${'Do it well. '.repeat(300)}\n`,
    )
    await writeFile(
      join(folder, 'logo.png'),
      Buffer.from(Array.from({ length: PICTURE_BYTES }, () => Math.floor(random() * 256))),
    )
  }
  await commitFolder(source, root, repository)
  return repository
}
