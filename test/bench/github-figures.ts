import { printTable } from './measure.ts'

/** What was measured of one repository. Seconds are medians. */
export interface GitHubFigures {
  repository: string
  files: number
  /** Of all blobs, and of those that indexing reads. */
  blobBytes: number
  textBytes: number
  readSeconds: number
  cloneBareSeconds: number
  cloneSeconds: number
  /** That the host sent. */
  readBytes: number
  packBytes: number
  next: { changed: number; seconds: number; bytes: number }
  peakMegabytes: number
  /** Questions to the API and requests of git. */
  cold: Requests
  warm: Requests
  recheck: Requests & { unchanged: number }
}

export interface Requests {
  rest: number
  git: number
}

interface Figure {
  name: string
  target: string
  show: (figures: GitHubFigures) => string
  isMet?: (figures: GitHubFigures) => boolean
}

/** From so many files on, what reading a repository takes beside git is bounded. */
const LARGE_FILES = 10_000
/** With less text than that, most of a repository are pictures and the like. */
const TEXT_SHARE = 0.2

const isLarge = ({ files }: GitHubFigures) => files >= LARGE_FILES
const besideBare = ({ readSeconds, cloneBareSeconds }: GitHubFigures) => readSeconds / cloneBareSeconds
const besideCheckout = ({ readSeconds, cloneSeconds }: GitHubFigures) => readSeconds / cloneSeconds
const shareOfPack = ({ readBytes, packBytes }: GitHubFigures) => readBytes / packBytes
const hasMuchElse = ({ textBytes, blobBytes }: GitHubFigures) => textBytes / blobBytes < TEXT_SHARE
const requests = ({ rest, git }: Requests) => `${rest} + ${git}`

const FIGURES: readonly Figure[] = [
  { name: 'files', target: '', show: ({ files }) => String(files) },
  {
    name: 'MB, of which text',
    target: '',
    show: ({ blobBytes, textBytes }) => `${megabytes(blobBytes)} / ${megabytes(textBytes)}`,
  },
  { name: 'read, s', target: '', show: ({ readSeconds }) => decimal(readSeconds) },
  { name: 'clone --bare --depth 1, s', target: '', show: ({ cloneBareSeconds }) => decimal(cloneBareSeconds) },
  { name: 'clone --depth 1, s', target: '', show: ({ cloneSeconds }) => decimal(cloneSeconds) },
  {
    name: 'read / clone --bare',
    target: `<= 3.5 from ${LARGE_FILES} files on`,
    show: figures => decimal(besideBare(figures)),
    isMet: figures => !isLarge(figures) || besideBare(figures) <= 3.5,
  },
  {
    name: 'read / clone',
    target: `<= 0.75 from ${LARGE_FILES} files on`,
    show: figures => decimal(besideCheckout(figures)),
    isMet: figures => !isLarge(figures) || besideCheckout(figures) <= 0.75,
  },
  {
    name: 'bytes / pack of depth 1',
    target: '<= 1.1, mostly pictures 0.25',
    show: figures => decimal(shareOfPack(figures)),
    isMet: figures => shareOfPack(figures) <= (hasMuchElse(figures) ? 0.25 : 1.1),
  },
  {
    name: 'next commit, s',
    target: '<= 0.5',
    show: ({ next }) => `${decimal(next.seconds)} of ${next.changed} files`,
    isMet: ({ next }) => next.seconds <= 0.5,
  },
  {
    name: '  MB',
    target: '<= 2',
    show: ({ next }) => megabytes(next.bytes),
    isMet: ({ next }) => next.bytes <= 2e6,
  },
  {
    name: 'peak of any process, MB',
    target: '<= 160',
    show: ({ peakMegabytes }) => decimal(peakMegabytes),
    isMet: ({ peakMegabytes }) => peakMegabytes <= 160,
  },
  {
    name: 'requests cold, API + git',
    target: '<= 3 + 5',
    show: ({ cold }) => requests(cold),
    isMet: ({ cold }) => cold.rest <= 3 && cold.git <= 5,
  },
  {
    name: '  warm',
    target: '0 + 0',
    show: ({ warm }) => requests(warm),
    isMet: ({ warm }) => warm.rest + warm.git === 0,
  },
  {
    name: '  a minute later',
    target: '1 + 0, a 304',
    show: ({ recheck }) => `${requests(recheck)}, ${recheck.unchanged} x 304`,
    isMet: ({ recheck }) => recheck.rest === 1 && recheck.git === 0 && recheck.unchanged === 1,
  },
]

/** A line a figure, a column a repository; what misses its target is marked. */
export function printGitHubFigures(measured: readonly GitHubFigures[]): void {
  const rows = FIGURES.map(({ name, target, show, isMet }) => ({
    figure: name,
    target,
    ...Object.fromEntries(measured.map(figures => [figures.repository, marked(show(figures), isMet?.(figures))])),
  }))
  printTable('Reading a repository of GitHub (from a stand-in on this machine), beside its targets', rows)
}

/** @param isMet `undefined`: there is no target */
export function marked(figure: string, isMet: boolean | undefined): string {
  return `${figure}${isMet === false ? '  MISSED' : ''}`
}

export function decimal(value: number): string {
  if (Number.isInteger(value) || value >= 100) return value.toFixed(0)
  return value.toFixed(value >= 10 ? 1 : 2)
}

function megabytes(bytes: number): string {
  return decimal(bytes / 1e6)
}
