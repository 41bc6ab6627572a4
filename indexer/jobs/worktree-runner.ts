import type { BlobStore } from '#core/ports/blob-store.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { errorCodeOf } from '../pipeline/index-error.ts'
import { type ReadableHost, writeSnapshot } from '../pipeline/write-snapshot.ts'
import type { WrittenSnapshot } from '../snapshot/snapshot-writer.ts'
import type { JobRunner } from './job-runner.ts'

export interface WorktreeRunnerDeps {
  blobs: BlobStore
  hosts: readonly ReadableHost[]
}

/**
 * Runs jobs in this process for a folder whose files change: each state is indexed from scratch, since the object ids of a working folder are not hashes that would tell unchanged files,
 * and only the last snapshot is kept.
 */
export function createWorktreeRunner(deps: WorktreeRunnerDeps): JobRunner {
  return {
    async ready() {},
    async run(job, { signal, onStage }) {
      try {
        const written = await writeSnapshot(deps, job, signal, progress => onStage(progress.stage))
        if (written === null) return { status: 'indexed', objects: 0, bytes: 0 }
        const kept = [headerKey(job.repository, job.commit), ...packKeysOf(job.repository, written)]
        await removeOthers(deps.blobs, new Set(kept))
        return { status: 'indexed', objects: written.objects, bytes: written.bytes }
      } catch (error) {
        return signal.aborted ? { status: 'stopped' } : { status: 'failed', errorCode: errorCodeOf(error), err: error }
      }
    },
    async close() {},
  }
}

function packKeysOf(repository: Parameters<typeof packKey>[0], { header }: WrittenSnapshot): string[] {
  return header.packs.map(({ name }) => packKey(repository, name))
}

async function removeOthers(blobs: BlobStore, kept: ReadonlySet<string>): Promise<void> {
  for (const key of await blobs.list('')) if (!kept.has(key)) await blobs.remove(key)
}
