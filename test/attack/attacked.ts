import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { generate } from '#test/bench/repositories.ts'
import type { Service } from '#test/support/service.ts'
import { largeTable } from './large-tables.ts'

/** What a visitor reads and what is attacked, as addresses of local repositories. */
export interface Attacked {
  visited: string
  /** Small repositories that are opened for the first time. */
  freshNames: string[]
  history: { address: string; lost: string[] }
  large: { address: string; refs: string[] }
  tables: { address: string; paths: string[] }
  /** Raw route of a large file. */
  rawPath: string
}

export interface AttackedSizes {
  /** Small repositories. */
  fresh: number
  /** Of the history, from which a branch starts at every sixtieth. */
  commits: number
  /** Of each large ref. */
  files: number
}

/** Large enough that a walk of the history and a job of a large ref take seconds. */
export const LARGE_SIZES: AttackedSizes = { fresh: 60, commits: 30_000, files: 4_000 }
export const SMALL_SIZES: AttackedSizes = { fresh: 1, commits: 6_000, files: 300 }

const COMMITS_EACH_BRANCH = 60
const LOST = 40
/** Branches of the large repository. */
export const LARGE_REFS = 6
const TABLES = 4
const TABLE_CHARACTERS = 39_000
const RAW_BYTES = 48 * 1024 * 1024

/** Creates the repositories below a folder. */
export function makeAttacked(root: string, sizes: AttackedSizes): Attacked {
  const addressOf = ({ owner, name }: { owner: string; name: string }) => `/local/${owner}/${name}`
  const visited = addressOf(generate(root, 'visited', 200))
  const freshNames = Array.from({ length: sizes.fresh }, (_, number) => addressOf(generate(root, `fresh-${number}`, 20)))
  return { visited, freshNames, history: makeHistory(root, sizes), large: makeLarge(root, sizes), ...makeFiles(root) }
}

/**
 * What the first visitors of any service cause once: an index, the programs of the pages and the thread that renders. What they hold is no cost
 * of an attack.
 */
export async function visitFirst(service: Service, { visited, tables }: Attacked): Promise<void> {
  for (const address of [visited, tables.address]) await service.get('mounts', address)
  const page = await fetch(`${service.baseUrl}${visited}?view=file&look=rendered&path=SKILLSET.md`)
  if (page.status !== 200) throw new Error(`the page of a file answers ${page.status}`)
}

function makeHistory(root: string, { commits: count }: AttackedSizes): Attacked['history'] {
  const git = createRepository(root, 'history')
  const commits = Array.from({ length: count }, (_, number) => {
    const branch = number % COMMITS_EACH_BRANCH === 0 ? `reset refs/heads/branch-${number}\nfrom :${number + 1}\n\n` : ''
    return `${commitLines('main', number + 1)}M 100644 inline a\ndata 8\n${`${number}`.padStart(8)}\n${branch}`
  })
  git(['fast-import', '--quiet'], commits.join(''))
  const lost = Array.from({ length: LOST }, (_, number) =>
    git(['commit-tree', '-p', `main~${number * 100}`, '-m', `lost ${number}`, 'main^{tree}']).trim(),
  )
  return { address: '/local/generated/history', lost }
}

/** Branches without a common file, so that none reuses what another one stored. */
function makeLarge(root: string, { files: count }: AttackedSizes): Attacked['large'] {
  const git = createRepository(root, 'large')
  const refs = Array.from({ length: LARGE_REFS }, (_, number) => (number === 0 ? 'main' : `other-${number}`))
  for (const [number, ref] of refs.entries()) {
    const files = Array.from({ length: count }, (_, index) => {
      const words = Array.from({ length: 500 }, (_, place) => `word${(number * 7_919 + index * 31 + place * place) % 9_973}`)
      return fileOf(`docs/page-${index}.md`, `# Page ${index} of ${ref}\n\n${words.join(' ')}\n`)
    })
    git(['fast-import', '--quiet'], `${commitLines(ref)}${LICENSE}${files.join('')}`)
  }
  return { address: '/local/generated/large', refs }
}

function makeFiles(root: string): Pick<Attacked, 'tables' | 'rawPath'> {
  const git = createRepository(root, 'tables')
  const paths = Array.from({ length: TABLES }, (_, number) => `table-${number}.md`)
  const tables = paths.map((path, number) => fileOf(path, `${largeTable(TABLE_CHARACTERS)}\n${number}\n`))
  const raw = fileOf('raw.bin', '\0'.repeat(RAW_BYTES))
  git(['fast-import', '--quiet'], `${commitLines('main')}${LICENSE}${tables.join('')}${raw}`)
  const rawPath = `/git/local/generated/tables/raw/${git(['rev-parse', 'main']).trim()}/raw.bin`
  return { tables: { address: '/local/generated/tables', paths }, rawPath }
}

function createRepository(root: string, name: string): (args: readonly string[], input?: string) => string {
  const gitDir = join(root, 'generated', `${name}.git`)
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', gitDir])
  const identity = { GIT_AUTHOR_NAME: 'Bench', GIT_AUTHOR_EMAIL: 'b@example.org' }
  const env = { ...process.env, ...identity, GIT_COMMITTER_NAME: 'Bench', GIT_COMMITTER_EMAIL: 'b@example.org' }
  return (args, input = '') =>
    execFileSync('git', [`--git-dir=${gitDir}`, ...args], { encoding: 'utf8', input, maxBuffer: 2 ** 30, env })
}

const LICENSE = fileOf('package.json', '{"license":"MIT"}')

/** @param mark of the commit in the stream */
function commitLines(branch: string, mark = 1): string {
  return `commit refs/heads/${branch}\nmark :${mark}\ncommitter Bench <bench@example.org> 1767225600 +0000\ndata 0\n`
}

function fileOf(path: string, text: string): string {
  return `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`
}
