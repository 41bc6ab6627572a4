import type { Cost } from './cost.ts'
import { printTable } from './measure.ts'
import type { AskedOnce } from './search-ask.ts'
import type { Built, Changed } from './search-build.ts'
import type { Collected } from './search-items.ts'
import type { Jobs } from './search-job.ts'

/** What was measured of one repository. */
export interface SearchFigures {
  repository: string
  /** Of most of its text. */
  script: 'Latin' | 'CJK'
  /** From the first request to the first answer, over HTTP; `null` when the job failed for the time that it took. */
  indexSeconds: number | null
  collected: Collected
  built: Built
  changed: Changed
  jobs: Jobs
  asked: AskedOnce
}

/** A line of the table. */
interface Figure {
  name: string
  /** Empty: there is none. */
  target: string
  show: (figures: SearchFigures) => string
  isMet?: (figures: SearchFigures) => boolean
}

/** A section of this size is read whole, in one read. */
const WHOLE_KILOBYTES = 1024 * 1.024

const isWhole = ({ asked }: SearchFigures) => asked.sectionBytes / 1000 <= WHOLE_KILOBYTES
const shareOfText = ({ asked, collected }: SearchFigures) => asked.sectionBytes / collected.textBytes
const speed = ({ collected, changed }: SearchFigures) => collected.characters / 1e6 / changed.full.seconds

const FIGURES: readonly Figure[] = [
  { name: 'items', target: '', show: ({ collected }) => String(collected.items) },
  { name: 'text, MB', target: '', show: ({ collected }) => decimal(collected.textBytes / 1e6) },
  { name: 'section, kB', target: '', show: ({ asked }) => decimal(asked.sectionBytes / 1000) },
  {
    name: 'section / text',
    target: '<= 20 %, CJK 30 %',
    show: figures => percent(shareOfText(figures)),
    isMet: figures => shareOfText(figures) <= (figures.script === 'CJK' ? 0.3 : 0.2),
  },
  {
    name: 'indexed and found over HTTP, s',
    target: '<= 60',
    show: ({ indexSeconds }) => (indexSeconds === null ? 'no' : decimal(indexSeconds)),
    isMet: ({ indexSeconds }) => indexSeconds !== null && indexSeconds <= 60,
  },
  {
    name: 'build, million characters/s',
    target: '>= 4',
    show: figures => decimal(speed(figures)),
    isMet: figures => speed(figures) >= 4,
  },
  {
    name: 'build, peak MB above input',
    target: '<= 350',
    show: ({ built }) => decimal(built.peakMegabytes),
    isMet: ({ built }) => built.peakMegabytes <= 350,
  },
  shareFigure('1 % edited / full build', 0.15, ({ changed }) => [changed.edited, changed.full]),
  shareFigure('1 % new or gone / full build', 0.15, ({ changed }) => [changed.moved, changed.full]),
  {
    name: '  and gives the same bytes',
    target: 'yes',
    show: ({ changed }) => (changed.isEqual ? 'yes' : 'no'),
    isMet: ({ changed }) => changed.isEqual,
  },
  shareFigure('whole index job, 1 % edited / from scratch', null, ({ jobs }) => [jobs.changed, jobs.full]),
  {
    name: '  stored, kB',
    target: '',
    show: ({ jobs }) => `${decimal(jobs.changedBytes / 1000)} of ${decimal(jobs.fullBytes / 1000)}`,
  },
  {
    name: 'cold find, ms p50',
    target: '<= 35 if whole, else 80',
    show: ({ asked }) => decimal(asked.coldMilliseconds.p50),
    isMet: figures => figures.asked.coldMilliseconds.p50 <= (isWhole(figures) ? 35 : 80),
  },
  { name: '  p99', target: '', show: ({ asked }) => decimal(asked.coldMilliseconds.p99) },
  { name: '  p50 with the header', target: '', show: ({ asked }) => decimal(asked.coldMilliseconds.withHeader) },
  {
    name: 'cold rounds, max',
    target: '<= 5',
    show: ({ asked }) => String(asked.rounds.plain),
    isMet: ({ asked }) => asked.rounds.plain <= 5,
  },
  {
    name: '  on a typo',
    target: '<= 7',
    show: ({ asked }) => String(asked.rounds.misspelled),
    isMet: ({ asked }) => asked.rounds.misspelled <= 7,
  },
  {
    name: 'reads of the section, p50 / max',
    target: 'max <= 16',
    show: ({ asked }) => pair(asked.section.reads),
    isMet: ({ asked }) => asked.section.reads.max <= 16,
  },
  {
    name: '  kB, p50 / max',
    target: 'whole, or <= 200 / 512',
    show: ({ asked }) => pair(asked.section.kilobytes),
    isMet: figures =>
      isWhole(figures) || (figures.asked.section.kilobytes.p50 <= 200 && figures.asked.section.kilobytes.max <= 512),
  },
  { name: 'reads of rows and texts, p50 / max', target: '', show: ({ asked }) => pair(asked.rest.reads) },
  { name: '  kB, p50 / max', target: '', show: ({ asked }) => pair(asked.rest.kilobytes) },
  {
    name: 'warm find, ms p50',
    target: '<= 2',
    show: ({ asked }) => decimal(asked.warmMilliseconds.p50),
    isMet: ({ asked }) => asked.warmMilliseconds.p50 <= 2,
  },
  {
    name: '  p99',
    target: '<= 40',
    show: ({ asked }) => decimal(asked.warmMilliseconds.p99),
    isMet: ({ asked }) => asked.warmMilliseconds.p99 <= 40,
  },
  {
    name: 'memory of an open repository, MB',
    target: '<= 1.5',
    show: ({ asked }) => decimal(asked.liveMegabytes.atOpen),
    isMet: ({ asked }) => asked.liveMegabytes.atOpen <= 1.5,
  },
  { name: '  after all queries, with the cache', target: '', show: ({ asked }) => decimal(asked.liveMegabytes.afterQueries) },
  { name: '  the header of the snapshot', target: '', show: ({ asked }) => decimal(asked.liveMegabytes.header) },
]

/** A line a figure, a column a repository; what misses its target is marked. */
export function printSearchFigures(measured: readonly SearchFigures[]): void {
  const rows = FIGURES.map(({ name, target, show, isMet }) => ({
    figure: name,
    target,
    ...Object.fromEntries(
      measured.map(figures => [figures.repository, `${show(figures)}${isMet?.(figures) === false ? '  MISSED' : ''}`]),
    ),
  }))
  printTable(
    'Search, beside its targets (a cold read takes 15 ms and its bytes at 80 MB/s; the header of the snapshot is known)',
    rows,
  )
}

/** How much of one cost another is, and the same of the time of all threads, which others at work on the machine change less. */
function shareFigure(name: string, target: number | null, costs: (figures: SearchFigures) => readonly [Cost, Cost]): Figure {
  const share = (figures: SearchFigures) => {
    const [part, whole] = costs(figures)
    return part.seconds / whole.seconds
  }
  return {
    name: `${name} (of all threads)`,
    target: target === null ? '' : `<= ${percent(target)}`,
    show(figures) {
      const [part, whole] = costs(figures)
      const ofThreads = percent(part.processorSeconds / whole.processorSeconds)
      return `${percent(share(figures))} of ${decimal(whole.seconds)} s (${ofThreads})`
    },
    ...(target === null ? {} : { isMet: figures => share(figures) <= target }),
  }
}

function pair({ p50, max }: { p50: number; max: number }): string {
  return `${decimal(p50)} / ${decimal(max)}`
}

function percent(share: number): string {
  return `${decimal(100 * share)} %`
}

function decimal(value: number): string {
  if (Number.isInteger(value) || value >= 100) return value.toFixed(0)
  return value.toFixed(value >= 10 ? 1 : 2)
}
