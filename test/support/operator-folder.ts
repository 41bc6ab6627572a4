import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

type FolderFiles = Readonly<Record<string, string | Uint8Array>>

/** A folder of these files, for as long as the test runs. */
export async function folderOf(files: FolderFiles): Promise<string> {
  const folder = await writeFolder(files)
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A new folder of these files, which the caller removes. */
export async function writeFolder(files: FolderFiles): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-operator-'))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  return folder
}
