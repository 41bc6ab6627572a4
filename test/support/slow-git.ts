import { execFileSync } from 'node:child_process'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A git that reads nothing of a repository while it is told to wait, and whoever started it lives: jobs then last as long as a test needs. */
export interface SlowGit {
  /** To put before all other folders of `PATH`. */
  folder: string
  /** From now on git reads. */
  goOn(): Promise<void>
  /** From now on it waits, as at the start. */
  hold(): Promise<void>
}

/** @param folder empty, and removed by whoever gave it */
export async function makeSlowGit(folder: string): Promise<SlowGit> {
  const waiting = join(folder, 'waiting')
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const script = `#!/bin/sh
case "$*" in
  *cat-file*|*ls-tree*) while [ -e '${waiting}' ] && kill -0 $PPID; do sleep 0.05; done ;;
esac
exec '${git}' "$@"
`
  const hold = () => writeFile(waiting, '')
  await hold()
  await writeFile(join(folder, 'git'), script)
  await chmod(join(folder, 'git'), 0o755)
  return { folder, goOn: () => rm(waiting), hold }
}
