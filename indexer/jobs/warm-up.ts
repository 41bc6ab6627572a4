import { createHash } from 'node:crypto'
import type { CommitSha } from '#core/commit-sha.ts'
import { yieldToEventLoop } from '#core/concurrency/yielding.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository, TreeEntry } from '#core/ports/git-host.ts'
import type { SkillRow } from '#core/snapshot/format.ts'
import { writeSnapshot } from '../pipeline/write-snapshot.ts'
import type { SearchThreads } from '../search/search-thread.ts'

/**
 * Indexes a small repository in memory and drops what it stores. A process that has done so indexes its first repository faster: its code is
 * compiled, and the license data are loaded. Takes about a second of a processor.
 *
 * @param searchThreads keeps a warm thread for the next job; `null`: without threads
 * @returns the skills of that repository
 */
export async function warmUp(searchThreads: SearchThreads | null, signal: AbortSignal): Promise<readonly SkillRow[]> {
  const texts = new Map(sampleFiles().map(([path, text]) => [path, Buffer.from(text)]))
  const bytesByOid = new Map([...texts.values()].map(bytes => [oidOf(bytes), bytes]))
  const entries = [...texts].map(
    ([path, bytes]): TreeEntry => ({ path, mode: '100644', oid: oidOf(bytes), sizeBytes: bytes.length }),
  )
  const reader = {
    cut: false,
    async *entries() {
      yield* entries
    },
    async *read(oids: Iterable<string>) {
      for (const oid of oids) {
        // A job that arrives meanwhile is heard here, and aborts this.
        await yieldToEventLoop(signal)
        yield { oid, bytes: bytesByOid.get(oid) ?? null }
      }
    },
    async close() {},
  }
  const host = { segment: REPOSITORY.host, isRemote: false, open: async () => reader }
  const job = { repository: REPOSITORY, commit: '0'.repeat(40) as CommitSha }
  // However little text the sample has.
  const always: SearchThreads | null = searchThreads && {
    start: (place, stop) => searchThreads.start(place, stop, Number.POSITIVE_INFINITY),
  }
  let skills: readonly SkillRow[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const deps = { blobs: NO_STORE, hosts: [host], searchThreads: round < THREAD_ROUNDS ? always : null }
    const written = await writeSnapshot(deps, job, signal)
    skills = written?.header.root.skills ?? []
  }
  return skills
}

const REPOSITORY: HostRepository = {
  id: 'warm-up',
  host: 'warm-up',
  owner: 'warm-up',
  name: 'warm-up',
  defaultBranch: 'main',
  description: null,
  avatar: null,
  visibility: 'public',
}

/** Keeps nothing. */
const NO_STORE: BlobStore = {
  create: async () => 'created',
  read: async () => null,
  readRange: async (_key, _offset, length) => new Uint8Array(length),
  list: async () => [],
  remove: async () => {},
  close: async () => {},
}

/** Open, so that the skills are served in full: only then are records written. */
const MIT = `MIT License

Copyright (c) 2026 The sample

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

const ROUNDS = 4
/** Of these, rounds with a search thread. In the others this thread does everything, as it does for a small repository or the next commit. */
const THREAD_ROUNDS = 2
/** Enough text for the hot functions to be optimized. */
const PAGES = 80

function sampleFiles(): [path: string, text: string][] {
  const files: [string, string][] = [
    ['package.json', '{"license":"MIT"}\n'],
    ['LICENSE', MIT],
    ['SKILLSET.md', '---\nname: Sample\n---\nFollow [the guide](docs/page-1.md).\n'],
  ]
  for (let page = 0; page < PAGES; page++) {
    files.push([`docs/page-${page}.md`, samplePage(page)])
    if (page % 4 === 0)
      files.push([`skills/s-${page}/SKILL.md`, `---\nname: s-${page}\ndescription: Does ${page}.\n---\n${samplePage(page)}`])
  }
  return files
}

function samplePage(page: number): string {
  const words = Array.from(
    { length: 200 },
    (_, index) => `${SAMPLE_WORDS[(index * 7 + page) % SAMPLE_WORDS.length]}${(index * page) % 53}`,
  )
  const text = words.join(' ').replace(/(.{70}\S*) /g, '$1\n')
  return `# Page ${page}: an \`example\`\n\n${text}\n\n## Steps\n\n- first, *with* [a link](page-${page + 1}.md)\n- then **another** ![picture](a.png)\n  1. below it\n\n> A quotation of \`code\`.\n\n\`\`\`ts\nconst callOf = (value: number) => value + ${page}\n\`\`\`\n\n| a | b |\n|---|---|\n| ${page} | <b>c</b> |\n`
}

const SAMPLE_WORDS = [
  'agents',
  'reading',
  'snapshot',
  'Repository',
  'readFile',
  'files',
  'the',
  'commits',
  'naïve',
  'snake_case',
  'testing',
]

function oidOf(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}
