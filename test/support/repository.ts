import { spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { access, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import type { CommitSha } from '#core/commit-sha.ts'
import { bytesOf, loosePath, storeObject, storeZeroBlob, text } from './git-objects.ts'
import { isPlainRef, LooseCommits, type TestFile, writeRef } from './loose-commits.ts'
import { storeChangeOfZeroBlob } from './packs.ts'

/** A folder of real git repositories, laid out as the local git host serves them. */
export interface TestRepositories {
  /** Real path of the folder. */
  readonly root: string
  create(owner: string, name: string, options?: CreateOptions): Promise<TestRepository>
  remove(): Promise<void>
}

export interface CreateOptions {
  /** `bare` makes `<owner>/<name>.git` (the default), `normal` makes `<owner>/<name>/.git`. */
  layout?: 'bare' | 'normal'
  /** Where HEAD points; `main` by default. */
  defaultBranch?: string
  description?: string
}

export type { TestFile }

export interface CommitOptions {
  /** The branch that moves; `null` leaves the commit outside every ref. Default: the default branch. */
  branch?: string | null
  message?: string
  /** Default: the branch's commit. `null` starts a new history. */
  parent?: string | null
  /** The files are the whole tree; without it they change the parent's tree. */
  replace?: boolean
  /** Seconds since 1970. Default: a fixed start, a minute later with every commit of the repository. */
  date?: number
}

export interface RawTreeEntry {
  mode: string
  name: string | Uint8Array
  oid: string
}

export interface TestRepository {
  readonly owner: string
  readonly name: string
  /** The folder that git calls the git dir. */
  readonly gitDir: string
  /** Authors and dates are fixed, so the same files give the same commits. */
  commit(files: Readonly<Record<string, TestFile>>, options?: CommitOptions): Promise<CommitSha>
  /** A commit of a tree that was written already, however strange. */
  commitTree(tree: string, options?: Omit<CommitOptions, 'replace'>): Promise<CommitSha>
  branch(name: string, commit: string): Promise<void>
  /** A lightweight tag of any object, or an annotated one; gives the id that the ref holds. */
  tag(name: string, target: string, options?: { annotated?: boolean; targetType?: ObjectType }): Promise<string>
  setDefaultBranch(name: string): Promise<void>
  writeBlob(content: string | Uint8Array): Promise<string>
  /** A blob of zeros; a gibibyte takes about a MiB of disk. */
  writeZeroBlob(sizeBytes: number): Promise<string>
  /** A blob of a hundred zeros, packed as a change of a huge one that git has to unpack first. */
  writeChangeOfZeroBlob(baseSizeBytes: number): Promise<string>
  /** The entries exactly as given: any name, any order, any mode. */
  rawTree(entries: readonly RawTreeEntry[]): Promise<string>
  /** The body exactly as given, valid or not. */
  writeObject(type: ObjectType, body: string | Uint8Array): Promise<string>
  /** Takes an object away, so that whatever names it dangles. */
  dropObject(oid: string): Promise<void>
  /** Overwrites the stored object: with bytes that are no object, or with another blob that then lies under a false id. */
  corruptObject(oid: string, falseBlob?: string): Promise<void>
  /** The object at a path of a commit. */
  oidAt(commit: string, path: string): Promise<string>
  /** Runs git in the repository and gives its output without the last line break. */
  git(...args: string[]): Promise<string>
}

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag'

export async function createRepositories(): Promise<TestRepositories> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'mountglass-repositories-')))
  return {
    root,
    create: (owner, name, options = {}) => createRepository(join(root, owner), owner, name, options),
    remove: async () => rmSync(root, { recursive: true, force: true }),
  }
}

const PERSON = 'Test Person <test@example.org>'
const FIRST_COMMIT_AT = 1_700_000_000
const COMMIT_STEP_SECONDS = 60
const ZERO_OID = '0'.repeat(40)

async function createRepository(
  ownerFolder: string,
  owner: string,
  name: string,
  { layout = 'bare', defaultBranch = 'main', description }: CreateOptions,
): Promise<TestRepository> {
  const gitDir = layout === 'bare' ? join(ownerFolder, `${name}.git`) : join(ownerFolder, name, '.git')
  await initialise(gitDir, layout === 'bare', defaultBranch)
  if (description !== undefined) await writeFile(join(gitDir, 'description'), description)
  let head = defaultBranch
  let commits = 0
  const loose = new LooseCommits(gitDir)
  const moveRef = async (ref: string, oid: string) => {
    if (isPlainRef(gitDir, ref, oid)) await writeRef(gitDir, ref, oid)
    else await git('update-ref', ref, oid)
  }

  const git = async (...args: string[]) => (await runGit(gitDir, args)).toString().replace(/\n$/, '')
  const tipOf = async (branch: string): Promise<string | null> => {
    const loose = await readFile(join(gitDir, 'refs/heads', branch), 'utf8').catch(() => null)
    if (loose !== null && !loose.startsWith('ref:')) return loose.trim()
    // Without packed refs there is nothing more that git could know.
    if (loose === null && !existsSync(join(gitDir, 'packed-refs'))) return null
    return (
      (await git('for-each-ref', '--format=%(refname) %(objectname)', `refs/heads/${branch}`))
        .split('\n')
        .map(line => line.split(' '))
        .find(([ref]) => ref === `refs/heads/${branch}`)?.[1] ?? null
    )
  }
  const parentOf = async (options: CommitOptions, branch: string | null) =>
    options.parent !== undefined ? options.parent : branch === null ? null : await tipOf(branch)
  const nextDate = (options: CommitOptions) => options.date ?? FIRST_COMMIT_AT + COMMIT_STEP_SECONDS * commits++

  const repository: TestRepository = {
    owner,
    name,
    gitDir,
    git,

    async commit(files, options = {}) {
      const branch = options.branch === undefined ? head : options.branch
      const parent = await parentOf(options, branch)
      const date = nextDate(options)
      const ref = branch === null ? 'refs/test/unreachable' : `refs/heads/${branch}`
      const people = `author ${PERSON} ${date} +0000\ncommitter ${PERSON} ${date} +0000\n`
      const message = options.message ?? 'Change files'
      const stored = isPlainRef(gitDir, ref, parent ?? ZERO_OID)
        ? await loose.store({ files, parent, replace: options.replace === true, text: `${people}\n${message}` })
        : null
      if (stored !== null) {
        if (branch !== null) await writeRef(gitDir, ref, stored)
        return stored as CommitSha
      }
      const parts: Uint8Array[] = [
        text(`commit ${ref}\nmark :1\n${people}`),
        ...data(message),
        text(parent === null ? '' : `from ${parent}\n`),
        text(options.replace || parent === null ? 'deleteall\n' : ''),
        ...Object.entries(files).flatMap(([path, file]) => fileCommand(path, file)),
        text('\nget-mark :1\n'),
        text(branch === null ? `reset ${ref}\nfrom ${ZERO_OID}\n\n` : ''),
        text('done\n'),
      ]
      const reset = parent === null && branch !== null && (await tipOf(branch)) !== null ? [text(`reset ${ref}\n\n`)] : []
      const output = await runGit(gitDir, ['fast-import', '--quiet', '--force', '--done'], [...reset, ...parts])
      return output.toString().trim() as CommitSha
    },

    async commitTree(tree, options = {}) {
      const branch = options.branch === undefined ? head : options.branch
      const parent = await parentOf(options, branch)
      const date = nextDate(options)
      const parentLine = parent === null ? '' : `parent ${parent}\n`
      const people = `author ${PERSON} ${date} +0000\ncommitter ${PERSON} ${date} +0000\n`
      const commit = await repository.writeObject(
        'commit',
        `tree ${tree}\n${parentLine}${people}\n${options.message ?? 'Change files'}`,
      )
      if (branch !== null) await moveRef(`refs/heads/${branch}`, commit)
      return commit as CommitSha
    },

    async branch(branch, commit) {
      await moveRef(`refs/heads/${branch}`, commit)
    },

    async tag(tag, target, options = {}) {
      const body = `object ${target}\ntype ${options.targetType ?? 'commit'}\ntag ${tag}\ntagger ${PERSON} ${FIRST_COMMIT_AT} +0000\n\n${tag}\n`
      const oid = options.annotated ? await repository.writeObject('tag', body) : target
      await moveRef(`refs/tags/${tag}`, oid)
      return oid
    },

    async setDefaultBranch(branch) {
      head = branch
      await git('symbolic-ref', 'HEAD', `refs/heads/${branch}`)
    },

    writeBlob: content => repository.writeObject('blob', content),

    writeZeroBlob: sizeBytes => storeZeroBlob(gitDir, sizeBytes),

    writeChangeOfZeroBlob: baseSizeBytes => storeChangeOfZeroBlob(gitDir, baseSizeBytes),

    rawTree: entries =>
      repository.writeObject(
        'tree',
        Buffer.concat(
          entries.flatMap(({ mode, name, oid }) => [text(`${mode} `), bytesOf(name), text('\0'), Buffer.from(oid, 'hex')]),
        ),
      ),

    writeObject: (type, body) => storeObject(gitDir, type, body),

    async dropObject(oid) {
      await unpackAll(gitDir)
      await rm(loosePath(gitDir, oid))
    },

    async corruptObject(oid, falseBlob) {
      await unpackAll(gitDir)
      await rm(loosePath(gitDir, oid))
      const stored = falseBlob === undefined ? 'not an object' : deflateSync(`blob ${Buffer.byteLength(falseBlob)}\0${falseBlob}`)
      await writeFile(loosePath(gitDir, oid), stored)
    },

    oidAt: (commit, path) => git('rev-parse', `${commit}:${path}`),
  }
  return repository
}

/** The same files that `git init` makes, without its process. */
async function initialise(gitDir: string, bare: boolean, defaultBranch: string): Promise<void> {
  await Promise.all(
    ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'].map(path => mkdir(join(gitDir, path), { recursive: true })),
  )
  await writeFile(join(gitDir, 'config'), `[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = ${bare}\n`)
  await writeFile(join(gitDir, 'HEAD'), `ref: refs/heads/${defaultBranch}\n`)
}

function fileCommand(path: string, file: TestFile): Uint8Array[] {
  const name = quote(path)
  if (file === null) return [text(`D ${name}\n`)]
  if (typeof file === 'string' || file instanceof Uint8Array) return [text(`M 100644 inline ${name}\n`), ...data(file)]
  if ('link' in file) return [text(`M 120000 inline ${name}\n`), ...data(file.link)]
  if ('submodule' in file) return [text(`M 160000 ${file.submodule} ${name}\n`)]
  if ('blob' in file) return [text(`M ${file.mode ?? '100644'} ${file.blob} ${name}\n`)]
  return [text(`M ${file.mode} inline ${name}\n`), ...data(file.content)]
}

function data(content: string | Uint8Array): Uint8Array[] {
  const bytes = bytesOf(content)
  return [text(`data ${bytes.length}\n`), bytes, text('\n')]
}

/** A path in the C style of fast-import, every byte that could end it escaped. */
function quote(path: string): string {
  const escaped = [...Buffer.from(path)].map(byte =>
    byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c
      ? `\\${byte.toString(8).padStart(3, '0')}`
      : String.fromCharCode(byte),
  )
  return `"${escaped.join('')}"`
}

/** Turns every pack into loose objects. */
async function unpackAll(gitDir: string): Promise<void> {
  const folder = join(gitDir, 'objects/pack')
  for (const name of await readdir(folder)) {
    const base = name.endsWith('.pack') ? name.slice(0, -'.pack'.length) : null
    if (base === null) continue
    const aside = join(gitDir, name)
    await rename(join(folder, name), aside)
    await Promise.all((await readdir(folder)).filter(other => other.startsWith(`${base}.`)).map(other => rm(join(folder, other))))
    await runGit(gitDir, ['unpack-objects', '-q'], [await readFile(aside)])
    await rm(aside)
  }
}

/** Runs git without any configuration of the machine. @throws Error with what git said */
async function runGit(gitDir: string, args: readonly string[], input: readonly Uint8Array[] = []): Promise<Buffer> {
  await access(gitDir)
  const child = spawn('git', ['--git-dir', gitDir, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'Test Person',
      GIT_AUTHOR_EMAIL: 'test@example.org',
      GIT_AUTHOR_DATE: `${FIRST_COMMIT_AT} +0000`,
      GIT_COMMITTER_NAME: 'Test Person',
      GIT_COMMITTER_EMAIL: 'test@example.org',
      GIT_COMMITTER_DATE: `${FIRST_COMMIT_AT} +0000`,
    },
  })
  const output: Buffer[] = []
  const errors: Buffer[] = []
  child.stdout.on('data', chunk => output.push(chunk))
  child.stderr.on('data', chunk => errors.push(chunk))
  child.stdin.on('error', () => {}) // git's own message tells more than a broken pipe
  child.stdin.end(Buffer.concat(input))
  const status = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${Buffer.concat(errors).toString().trim()}`)
  return Buffer.concat(output)
}
