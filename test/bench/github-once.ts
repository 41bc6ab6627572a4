import { readdirSync, readFileSync } from 'node:fs'
import { READABLE_FILE_BYTES, TREE_ENTRIES } from '#core/limits.ts'
import type { BlobSelection, TreeEntry } from '#core/ports/git-host.ts'
import { INDEXED_BLOBS } from '#indexer/pipeline/read-tree.ts'
import { openGitHubHost } from '#infra/github/host.ts'
import { systemClock } from '#infra/system/system.ts'
import { answered } from '#test/support/answered.ts'

/** One reading, by a process that has nothing at hand. */
export interface ReadOnce {
  seconds: number
  files: number
  /** Of what was read. */
  textBytes: number
  /** Of this process. */
  ownMegabytes: number
  /** The largest of those that it started; 0 unless they were watched. */
  startedMegabytes: number
}

/**
 * `github-once.ts read|next|watch <url> <apiUrl> <owner> <name> <ref>` reads what indexing would read, and prints figures as JSON.
 * `next`: as if everything of the commit before was held. `watch`: watches the memory of other processes, which takes time and memory.
 */
const LIMITS = { treeEntries: TREE_ENTRIES, treeDepthSegments: 10_000, seconds: 600 }
const WATCH_MILLISECONDS = 10

const [mode, url, apiUrl, owner, name, ref] = process.argv.slice(2) as [string, string, string, string, string, string]
const options = { url, apiUrl, token: null, webhookSecret: null, clock: systemClock, onWarning: () => {} }
const host = await openGitHubHost(options)
const repository = answered(await host.repository(owner, name))
const commit = answered(await host.resolve(repository, ref))
const before =
  mode === 'next' ? new Set((await listed(answered(await host.resolve(repository, 'main')))).map(({ oid }) => oid)) : null
const stopWatching = mode === 'watch' ? watchMemory() : () => 0

const startedAt = performance.now()
const figures = await read()
const seconds = (performance.now() - startedAt) / 1000
const ownMegabytes = process.resourceUsage().maxRSS / 1000
const startedMegabytes = stopWatching() / 1000
await host.close()
process.stdout.write(JSON.stringify({ ...figures, seconds, ownMegabytes, startedMegabytes } satisfies ReadOnce))

async function read(): Promise<Pick<ReadOnce, 'files' | 'textBytes'>> {
  const selection: BlobSelection = before
    ? { ...INDEXED_BLOBS, heldAmong: async oids => new Set(oids.filter(oid => before.has(oid))) }
    : INDEXED_BLOBS
  const reader = await host.open(repository, commit, LIMITS, selection)
  const entries: TreeEntry[] = []
  for await (const entry of reader.entries()) entries.push(entry)
  const uses = INDEXED_BLOBS.usesOf(entries)
  const wanted = entries.filter(({ oid, sizeBytes }, index) => {
    return uses[index] === 'bytes' && !before?.has(oid) && sizeBytes !== null && sizeBytes <= READABLE_FILE_BYTES
  })
  let textBytes = 0
  for await (const { bytes } of reader.read(
    wanted.map(({ oid }) => oid),
    READABLE_FILE_BYTES,
  ))
    textBytes += bytes?.length ?? 0
  await reader.close()
  return { files: entries.length, textBytes }
}

/** The files of a commit, without bringing any; what was fetched for it is of no use to the next reading. */
async function listed(commit: Parameters<typeof host.open>[1]): Promise<TreeEntry[]> {
  const other = await openGitHubHost(options)
  const reader = await other.open(repository, commit, LIMITS, { usesOf: files => files.map(() => 'nothing'), maxBytes: 0 })
  const entries: TreeEntry[] = []
  for await (const entry of reader.entries()) entries.push(entry)
  await reader.close()
  await other.close()
  return entries
}

/** Looks at the peaks of the processes that were started, again and again; in kilobytes. */
function watchMemory(): () => number {
  let peakKilobytes = 0
  const look = () => {
    for (const pid of descendants()) peakKilobytes = Math.max(peakKilobytes, peakOf(pid))
  }
  const timer = setInterval(look, WATCH_MILLISECONDS)
  return () => {
    clearInterval(timer)
    return peakKilobytes
  }
}

function descendants(): string[] {
  const parents = new Map<string, string>()
  for (const pid of readdirSync('/proc')) {
    const parent = /^\d+ \(.*\) \S (\d+) /s.exec(readProc(pid, 'stat'))?.[1]
    if (parent !== undefined) parents.set(pid, parent)
  }
  const isOurs = (pid: string): boolean => {
    const parent = parents.get(pid)
    return parent !== undefined && (parent === String(process.pid) || isOurs(parent))
  }
  return [...parents.keys()].filter(isOurs)
}

function peakOf(pid: string): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readProc(pid, 'status'))?.[1] ?? 0)
}

/** Empty for what is no process, or has just ended. */
function readProc(pid: string, file: string): string {
  try {
    return /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/${file}`, 'utf8') : ''
  } catch {
    return ''
  }
}
