/**
 * `<git dir of a repository> <blob> <held files> <ballast>`: opens private views where descriptors or the disk run out, and prints as JSON what
 * became of them. The ballast takes descriptors (`files`), or nothing: the disk of the folder for temporary files is small (`disk`).
 */

import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { runGit } from '#infra/git/process.ts'
import { PrivateViews, VIEW_BOUNDS } from '#infra/local/private-views.ts'
import { until } from './until.ts'

const [repository = '', blob = '', heldFiles = '', ballast = ''] = process.argv.slice(2)
const views = new PrivateViews({ ...VIEW_BOUNDS, ofView: { heldFiles: Number(heldFiles), copiedBytes: 1e9 } })
const place = { commonDir: repository, objects: repository }
const open = () => views.open(place, new AbortController().signal)
/** Descriptors that are left for the view. */
const LEFT_FILES = 30

const held = ballast === 'files' ? takeFiles() : []
const codes: unknown[] = []
for (let attempt = 0; attempt < 3; attempt++) {
  codes.push(
    await open().then(
      () => null,
      (error: NodeJS.ErrnoException) => error.code,
    ),
  )
}
for (const file of held) closeSync(file)
const leftViews = () => readdirSync(tmpdir()).filter(name => name.startsWith('mountglass-git-'))
await until(() => leftViews().length === 0)
const leftFiles = readdirSync('/proc/self/fd').filter(name => pathOf(name).startsWith(repository))
const view = ballast === 'files' ? await open() : null
const text = view && (await runGit(['cat-file', 'blob', blob], { gitDir: view.gitDir })).toString()
await view?.remove()
await views.close()
process.stdout.write(JSON.stringify({ codes, leftFiles, text, leftViews: leftViews() }))

/** All descriptors but some. */
function takeFiles(): number[] {
  const files: number[] = []
  try {
    for (;;) files.push(openSync('/dev/null', 'r'))
  } catch {
    for (const file of files.splice(-LEFT_FILES)) closeSync(file)
  }
  return files
}

function pathOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    return '' // that of the listing itself
  }
}
