import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A git before the real one on the `PATH` of this process, which logs its commands and stops before those that walk a history. */
export interface HeldGit {
  /** Commands that walk a history and have begun, oldest first. */
  walks(): Promise<string[]>
  /** From now on no walk waits. */
  goOn(): Promise<void>
}

/** Removed after the test. */
export async function holdGitWalks(): Promise<HeldGit> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'mountglass-held-')))
  const [held, log] = [join(folder, 'held'), join(folder, 'log')]
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const script = `#!/bin/sh
case "$*" in
  *rev-list*|*--contains*)
    echo "$*" >> '${log}'
    while [ -e '${held}' ] && kill -0 $PPID; do sleep 0.02; done ;;
esac
exec '${git}' "$@"
`
  await Promise.all([writeFile(held, ''), writeFile(log, ''), writeFile(join(folder, 'git'), script)])
  await chmod(join(folder, 'git'), 0o755)
  const path = process.env.PATH ?? ''
  process.env.PATH = `${folder}:${path}`
  onTestFinished(async () => {
    process.env.PATH = path
    await rm(folder, { recursive: true })
  })
  return {
    walks: async () => (await readFile(log, 'utf8')).split('\n').filter(line => line !== ''),
    goOn: () => rm(held),
  }
}
