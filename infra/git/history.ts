import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type FetchOptions, fetchCommit, fetchCommits } from './fetch.ts'
import { runGit } from './process.ts'

/** What the branches and tags of a repository point at. */
export interface TipSet {
  /** Each once. */
  oids: readonly string[]
  /** The same fingerprint is that of the same tips. What they lead to never changes. */
  fingerprint: string
}

/** @param oids in the order of the names, so that the same names give the same fingerprint */
export function tipSetOf(oids: Iterable<string>): TipSet {
  const unique = [...new Set(oids)]
  return { oids: unique, fingerprint: createHash('sha256').update(unique.join()).digest('base64') }
}

/** Whether the host gives out a commit under this id. It is fetched alone. @throws as `fetchTrees` */
export async function isCommit(options: FetchOptions, oid: string): Promise<boolean> {
  await fetchCommit(options, oid)
  return (await atHand([oid], options)).commits.length > 0
}

/** Those of the tips whose history has to be fetched. @throws GitError */
export async function absentTips(options: LocalOptions, tips: TipSet): Promise<string[]> {
  return (await atHand(tips.oids, options)).missing
}

/** Brings the commits behind new tips, without trees, and of those only what does not lie behind the tips before. @throws as `fetchTrees` */
export async function fetchHistory(options: FetchOptions, added: readonly string[], tips: TipSet): Promise<void> {
  await fetchCommits(options, added, tipsToName(await readTips(options), new Set(tips.oids)))
}

/** Has the history lead from these tips only, whatever was fetched besides. @throws GitError */
export async function setTips(options: LocalOptions, tips: TipSet): Promise<void> {
  const { commits } = await atHand(tips.oids, options)
  // Under names of our own: those of the host decide nothing here. In one file, since there may be a hundred thousand.
  const refs = commits.map((oid, index) => `${oid} refs/tags/${`${index}`.padStart(7, '0')}\n`)
  await writeFile(refsFile(options), refs.join(''))
}

/** Whether a tip of the history leads to the commit. @throws GitError */
export async function leadsTo(options: LocalOptions, commit: string): Promise<boolean> {
  // Of a commit that was never fetched, nothing has to be walked.
  if ((await atHand([commit], options)).commits.length === 0) return false
  // For tags git walks a history once, and for other refs once for each: of 20,000 refs that is 0.2 seconds or 7.
  return (await runGit(['tag', '--list', '--format=x', `--contains=${commit}`], options)).length > 0
}

/** A history that was fetched is asked without the network. */
export type LocalOptions = Pick<FetchOptions, 'gitDir' | 'signal'>

/** More names than these make a request larger than what they spare. */
const NAMED_TIPS = 1_000

/** The earlier tips that a request names. Those that moved or went come first: what is new most likely lies on top of them. */
export function tipsToName(before: readonly string[], now: ReadonlySet<string>): string[] {
  const [gone, kept] = [before.filter(oid => !now.has(oid)), before.filter(oid => now.has(oid))]
  return [...gone, ...kept].slice(0, NAMED_TIPS)
}

async function readTips(options: LocalOptions): Promise<string[]> {
  const refs = await readFile(refsFile(options), 'latin1').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '' // nothing was fetched before
    throw error
  })
  return refs.match(/^[0-9a-f]{40}/gm) ?? []
}

function refsFile({ gitDir }: LocalOptions): string {
  return join(gitDir, 'packed-refs')
}

const LISTED_BYTES = 64 * 1024 * 1024

/** Which of the objects are commits, and which are not there. */
async function atHand(
  oids: readonly string[],
  { gitDir, signal }: LocalOptions,
): Promise<{ commits: string[]; missing: string[] }> {
  const input = oids.map(oid => `${oid}\n`).join('')
  const output = await runGit(['cat-file', '--batch-check'], { gitDir, signal, input, maxOutputBytes: LISTED_BYTES })
  const lines = output.toString('latin1').split('\n')
  const those = (pattern: RegExp) => lines.flatMap(line => pattern.exec(line)?.[1] ?? [])
  return { commits: those(/^([0-9a-f]{40}) commit /), missing: those(/^([0-9a-f]{40}) missing$/) }
}
