import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { CommitSha, isCommitSha } from '#core/commit-sha.ts'
import { Repository } from '#core/contract/mount.ts'
import type { GitHost, HostAnswer, HostRepository, HostUrls } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'

const Instant = z.number()

/** What a host said of one repository, and which of its commits was indexed last. Instants are in milliseconds since 1970. */
export const HostNotes = z.object({
  format: z.literal(1),
  repository: z
    .object({ value: Repository.extend({ id: z.string(), ownerId: z.string().optional() }), askedAt: Instant })
    .nullable(),
  /** By ref; the default branch is `''`. */
  commits: z.record(z.string(), z.object({ commit: CommitSha, askedAt: Instant })),
  indexed: CommitSha.nullable(),
})
export type HostNotes = z.infer<typeof HostNotes>

export function emptyNotes(): HostNotes {
  return { format: 1, repository: null, commits: {}, indexed: null }
}

/** The notes of a file; empty ones where it is missing, damaged or of another version. */
export async function readNotes(file: string): Promise<HostNotes> {
  try {
    return HostNotes.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch {
    return emptyNotes()
  }
}

/** Commits of refs that are noted at most; those that were asked for last stay. */
const NOTED_COMMITS = 200

/** Replaces the file as a whole: of two processes, the last one's notes stay. */
export async function writeNotes(file: string, notes: HostNotes): Promise<void> {
  const latest = Object.entries(notes.commits).sort(([, left], [, right]) => right.askedAt - left.askedAt)
  const temporary = `${file}.${process.pid}`
  try {
    await writeFile(temporary, JSON.stringify({ ...notes, commits: Object.fromEntries(latest.slice(0, NOTED_COMMITS)) }), {
      mode: 0o600,
    })
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw error
  }
}

/** An answer of this age is not asked for again: the host hides a repository within this time. */
export const FRESH_SECONDS = 60
/** While the host cannot be asked, its last answer is used for this time. */
export const STALE_SECONDS = 600

interface RememberedHostOptions extends Pick<GitHost, 'segment'> {
  urls: HostUrls
  /** Opens the host, which is closed with this one. Called when it is first needed. */
  open(): Promise<GitHost>
  /** Is changed by what the host answers. */
  notes: HostNotes
  /** The ref that is read. A full commit is known for as long as it is noted. */
  ref: string | null
  clock: Clock
  /** Told once that the host cannot be asked, with the time of the answer that is used. */
  onStale(askedAt: Date): void
}

/** A remote host as one command after another asks it about one repository: they share its answers, for a short time. */
export function rememberHost({ segment, urls, open, notes, ref, clock, onStale }: RememberedHostOptions): GitHost {
  let opened: Promise<GitHost> | null = null
  const host = () => {
    opened ??= open()
    return opened
  }
  const isWithin = (askedAt: number, seconds: number) => {
    const age = clock.now().getTime() - askedAt
    return age >= 0 && age < seconds * 1000
  }
  let isToldStale = false
  const useStale = (askedAt: number) => {
    if (!isToldStale) onStale(new Date(askedAt))
    isToldStale = true
  }
  const isPinned = ref !== null && isCommitSha(ref) && Object.hasOwn(notes.commits, ref.toLowerCase())
  const isUsable = (askedAt: number) => isPinned || isWithin(askedAt, STALE_SECONDS)

  async function repository(owner: string, name: string): Promise<HostAnswer<HostRepository>> {
    const known = notes.repository
    const value = known?.value as HostRepository | undefined
    if (known && value && isWithin(known.askedAt, FRESH_SECONDS)) return { status: 'ok', value }
    const askedAt = clock.now().getTime()
    const answer = await (await host()).repository(owner, name)
    if (answer.status === 'ok') notes.repository = { value: answer.value, askedAt }
    if (answer.status === 'missing') Object.assign(notes, emptyNotes())
    if (!isRefused(answer) || !known || !value || !isUsable(known.askedAt)) return answer
    useStale(known.askedAt)
    return { status: 'ok', value }
  }

  async function resolve(of: HostRepository, asked: string | null): Promise<HostAnswer<CommitSha> | { status: 'gone' }> {
    const key = asked !== null && isCommitSha(asked) ? asked.toLowerCase() : (asked ?? '')
    const known = Object.hasOwn(notes.commits, key) ? notes.commits[key] : undefined
    if (known && isWithin(known.askedAt, FRESH_SECONDS)) return { status: 'ok', value: known.commit }
    const askedAt = clock.now().getTime()
    const answer = await (await host()).resolve(of, asked)
    if (answer.status === 'ok') {
      // Whoever reads a branch may next name the commit that it has.
      for (const name of [key, answer.value]) notes.commits[name] = { commit: answer.value, askedAt }
    } else if (answer.status === 'gone') Object.assign(notes, emptyNotes())
    else if (answer.status === 'missing') delete notes.commits[key]
    else if (known && isUsable(known.askedAt)) {
      useStale(known.askedAt)
      return { status: 'ok', value: known.commit }
    }
    return answer
  }

  return {
    segment,
    isRemote: true,
    urls,
    repository,
    resolve,
    refs: async of => (await host()).refs(of),
    tip: async of => (await host()).tip(of),
    open: async (of, commit, limits, selection) => (await host()).open(of, commit, limits, selection),
    async close() {
      await (await opened?.catch(() => null))?.close()
    },
  }
}

function isRefused({ status }: HostAnswer<unknown>): boolean {
  return status === 'rate_limited' || status === 'unavailable'
}
