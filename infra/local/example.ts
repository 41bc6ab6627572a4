import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { MANIFEST_FILE } from '#core/repo-path.ts'
import { compareBytes } from '#core/text.ts'
import { GitError, startGit } from '../git/process.ts'

/** Part of the digest. Increase it when the same sources must give another repository. */
const RECIPE = 1
const OWNER = 'mountglass'
const NAME = 'handbook'
const SIGNATURE = 'Mountglass <handbook@mountglass.example> 1795176000 +0000'
const DESCRIPTION = 'How to read, write and review skills'
const DIGEST_FILE = 'example-digest'
const LEFTOVER_MS = 60 * 60 * 1000

/** A source file, as a tree entry. */
interface SourceFile {
  path: string
  mode: '100644' | '100755'
  bytes: Uint8Array
}

/**
 * Builds a bare git repository of the bundled handbook at `<target>/mountglass/handbook.git`, unless it exists and is current.
 *
 * The same sources give the same commit on every machine: author, dates, modes and order are fixed, and git reads neither the
 * environment nor any configuration. The branches `main` and `releases/v1` and the annotated tag `v1` name that commit.
 * Several processes may do this at once. Readers see a complete repository: the old one, the new one, or for a moment none.
 *
 * @param source folder with the handbook's files
 * @param target folder of repositories; created if missing
 * @returns the absolute path of the target, for the local git host
 * @throws Error when the source has no SKILLSET.md; GitError
 */
export async function prepareExampleRepositories(source: string, target: string): Promise<string> {
  const files = await readSources(source)
  if (!files.some(file => file.path === MANIFEST_FILE))
    throw new Error(`${source} is not the handbook: ${MANIFEST_FILE} is missing`)
  const digest = digestOf(files)
  const root = resolve(target)
  const owner = join(root, OWNER)
  const repository = join(owner, `${NAME}.git`)
  if (await isBuiltFrom(repository, digest)) return root

  await mkdir(owner, { recursive: true })
  await removeLeftovers(owner)
  // The local host serves no name with a leading dot, so a repository under construction is invisible.
  const building = join(owner, `.${NAME}-${randomUUID()}`)
  try {
    await buildRepository(building, files)
    await writeFile(join(building, DIGEST_FILE), digest)
    await putInPlace(building, repository, digest)
  } finally {
    await rm(building, { recursive: true, force: true })
  }
  return root
}

/** The plain files below the folder, in byte order of their paths. Skips names with a leading dot. */
async function readSources(folder: string): Promise<SourceFile[]> {
  const paths = await listFiles(folder, '')
  return Promise.all(
    paths.sort(compareBytes).map(async (path): Promise<SourceFile> => {
      const bytes = await readFile(join(folder, path))
      // The mode follows from the content: checkouts differ in the executable bit.
      return { path, mode: bytes[0] === 0x23 && bytes[1] === 0x21 ? '100755' : '100644', bytes }
    }),
  )
}

async function listFiles(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true })
  const nested = await Promise.all(
    entries
      .filter(entry => !entry.name.startsWith('.'))
      .map(async entry => {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`
        if (entry.isDirectory()) return listFiles(root, path)
        return entry.isFile() ? [path] : []
      }),
  )
  return nested.flat()
}

function digestOf(files: readonly SourceFile[]): string {
  const hash = createHash('sha256').update(`${RECIPE}\n`)
  for (const file of files) hash.update(`${file.mode} ${file.bytes.length} ${file.path}\n`).update(file.bytes)
  return hash.digest('hex')
}

async function isBuiltFrom(repository: string, digest: string): Promise<boolean> {
  const kept = await readFile(join(repository, DIGEST_FILE), 'utf8').catch(() => null)
  return kept === digest
}

async function buildRepository(folder: string, files: readonly SourceFile[]): Promise<void> {
  await mkdir(folder)
  await runGit(folder, ['init', '--quiet', '--bare', '--template=', '--object-format=sha1', '--initial-branch=main'])
  await writeFile(join(folder, 'description'), `${DESCRIPTION}\n`)
  await runGit(folder, ['fast-import', '--quiet', '--date-format=raw'], fastImportStream(files))
}

/** Input of `git fast-import`: one commit of the files, and the refs that name it. */
function fastImportStream(files: readonly SourceFile[]): Uint8Array {
  const chunks: Uint8Array[] = []
  const line = (text: string) => chunks.push(Buffer.from(`${text}\n`))
  const data = (bytes: Uint8Array) => {
    line(`data ${bytes.length}`)
    chunks.push(bytes)
    line('')
  }
  line('commit refs/heads/main')
  line('mark :1')
  line(`author ${SIGNATURE}`)
  line(`committer ${SIGNATURE}`)
  data(Buffer.from(`handbook: ${DESCRIPTION.toLowerCase()}\n`))
  for (const file of files) {
    line(`M ${file.mode} inline ${file.path}`)
    data(file.bytes)
  }
  line('reset refs/heads/releases/v1')
  line('from :1')
  line('tag v1')
  line('from :1')
  line(`tagger ${SIGNATURE}`)
  data(Buffer.from('The first edition\n'))
  return Buffer.concat(chunks)
}

/** Moves the finished repository to its place, unless another process put one of the same sources there. */
async function putInPlace(building: string, repository: string, digest: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await rename(building, repository)
    } catch (error) {
      if (await isBuiltFrom(repository, digest)) return
      if (attempt === 10) throw error
      await moveAway(repository)
    }
  }
}

/** Renames an older repository, which is atomic, then removes it. */
async function moveAway(repository: string): Promise<void> {
  const away = join(repository, '..', `.${NAME}-${randomUUID()}`)
  const moved = await rename(repository, away).then(
    () => true,
    () => false, // another process moved it first
  )
  if (moved) await rm(away, { recursive: true, force: true })
}

/** Removes unfinished repositories of killed processes. */
async function removeLeftovers(owner: string): Promise<void> {
  const names = (await readdir(owner)).filter(name => name.startsWith(`.${NAME}-`))
  for (const name of names) {
    const leftover = join(owner, name)
    const facts = await stat(leftover).catch(() => null)
    if (facts && Date.now() - facts.mtimeMs > LEFTOVER_MS) await rm(leftover, { recursive: true, force: true })
  }
}

/** Runs git in a clean environment, without configuration, language or time zone of the machine. @throws GitError */
async function runGit(gitDir: string, args: readonly string[], input: Uint8Array = new Uint8Array()): Promise<void> {
  const git = startGit(args, { gitDir })
  git.output.resume()
  git.input.end(input)
  const end = await git.ended
  if (end.status !== 0) throw new GitError(args[0] ?? '', end)
}
