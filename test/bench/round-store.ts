import type { BlobStore } from '#core/ports/blob-store.ts'

export interface ReadRequest {
  key: string
  /** Of the object, up to, not including, `end`. */
  start: number
  end: number
}

/** A store over which reads wait for each other: those under way at the same time are answered together, which is one round. */
export interface RoundStore extends BlobStore {
  /** The rounds since the last time, with what was read in each. */
  takeRounds(): ReadRequest[][]
}

/** Nothing more is asked for so long: whoever reads now waits for an answer. */
const QUIET_MILLISECONDS = 12

export function createRoundStore(blobs: BlobStore): RoundStore {
  let rounds: ReadRequest[][] = []
  let open: { reads: ReadRequest[]; answers: (() => void)[]; underWay: number; timer: NodeJS.Timeout | null } | null = null

  async function together<Value>(read: () => Promise<Value>, describe: (value: Value) => ReadRequest): Promise<Value> {
    open ??= { reads: [], answers: [], underWay: 0, timer: null }
    const round = open
    if (round.timer) clearTimeout(round.timer)
    round.underWay++
    const value = await read()
    round.reads.push(describe(value))
    const answered = new Promise<void>(resolve => round.answers.push(resolve))
    if (--round.underWay === 0) round.timer = setTimeout(close, QUIET_MILLISECONDS)
    await answered
    return value
  }

  function close(): void {
    if (open === null) return
    const { reads, answers } = open
    open = null
    rounds.push(reads)
    for (const answer of answers) answer()
  }

  return {
    ...blobs,
    read: key =>
      together(
        () => blobs.read(key),
        blob => ({ key, start: 0, end: blob?.bytes.length ?? 0 }),
      ),
    readRange: (key, offset, length) =>
      together(
        () => blobs.readRange(key, offset, length),
        bytes => ({ key, start: offset, end: offset + (bytes?.length ?? 0) }),
      ),
    takeRounds() {
      const taken = rounds
      rounds = []
      return taken
    },
  }
}
