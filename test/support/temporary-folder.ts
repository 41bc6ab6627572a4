import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryFolder {
  /** Real path. */
  readonly path: string
  /** Removes it; temporary files are made where they were before. */
  giveBack(): Promise<void>
}

/**
 * Has this process make its temporary files in a folder of its own, so that whatever is left behind is seen there.
 *
 * @param parent where the folder is made
 */
export async function takeTemporaryFolder(parent: string = tmpdir()): Promise<TemporaryFolder> {
  const usual = process.env.TMPDIR
  const path = await realpath(await mkdtemp(join(parent, 'mountglass-test-')))
  process.env.TMPDIR = path
  return {
    path,
    async giveBack() {
      if (usual === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = usual
      await rm(path, { recursive: true })
    },
  }
}
