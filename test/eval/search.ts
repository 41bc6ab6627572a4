import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { FoundItem } from '#core/contract/find.ts'
import { compareBytes } from '#core/text.ts'
import { printTable } from '#test/bench/measure.ts'
import { CORPUS, type CorpusRepository, corpusRepositories, unpackCorpus } from '#test/support/corpus.ts'
import { startService } from '#test/support/service.ts'
import { adaptLicense } from './adapted.ts'
import { collectItems, openSource } from './items.ts'
import { eligibleOf, isMet, PLACES, type Quality, qualityOf, rankOf, TARGETS, type Unit } from './metrics.ts'
import { ENGINE_NAMES, type EngineName, type EngineRun, runEngine } from './peers.ts'
import { type NamedSet, type Question, readSets } from './sets.ts'

/** One question with what the search made of it. */
interface Asked extends Question {
  set: NamedSet
  /** Empty: search may name none of the expected paths, so the question counts nowhere. */
  eligible: string[]
  found: Unit[]
  rank: number | null
}

interface ClassRow extends Quality {
  set: string
  cls: string
  notEligible: number
  target: (typeof TARGETS)[string] | null
  met: boolean | null
}

/** Names of all sets of a kind together. */
const SHIPPED = 'shipped sets'
const OWN = 'own questions'

const { values: options } = parseArgs({
  options: {
    report: { type: 'string' },
    gate: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
  },
})

/** @returns the exit code: 1 when a gate is asked for and is not reached */
async function evaluate(): Promise<number> {
  if (CORPUS === null) {
    process.stdout.write('left out: the evaluation, since there is no folder ../shared/corpus with its repositories\n')
    return options.gate ? 1 : 0
  }
  const sets = readSets()
  const root = join(scratch, 'repositories')
  const repositories = corpusRepositories(CORPUS).filter(({ directory }) => sets.some(set => set.corpus === directory))
  const notes: string[] = []
  for (const repository of repositories) {
    await unpackCorpus(CORPUS, repository, root, folder => {
      const note = adaptLicense(repository.directory, folder)
      if (note !== null) notes.push(note)
    })
  }

  const asked = await askService(sets, repositories, root)
  const rows = [...rowsOf(asked, ({ gates }) => (gates ? SHIPPED : OWN)), ...rowsOf(asked)]
  const gates = rows.filter(({ set, target }) => set === SHIPPED && target !== null)
  const missed = gates.filter(({ met }) => met !== true)
  const notEligible = asked.filter(({ eligible }) => eligible.length === 0)

  for (const note of notes) process.stdout.write(`note: ${note}\n`)
  printTable(`Quality of find over HTTP (first ${PLACES} places)`, rows.map(printable))
  printNotEligible(notEligible)
  const peers = options.peers ? await comparePeers(asked, repositories, root) : null
  process.stdout.write(
    gates.length === 0
      ? '\nno target was measured, since there is no folder ../shared/search\n'
      : missed.length === 0
        ? '\nevery target is reached\n'
        : `\nmissed: ${missed.map(({ cls }) => cls).join(', ')}\n`,
  )
  if (options.report !== undefined) {
    const report = {
      definitions: DEFINITIONS,
      notes,
      classes: rows,
      missed: missed.map(({ cls }) => cls),
      notEligible: notEligible.map(({ set, cls, query, expected }) => ({
        set: set.name,
        corpus: set.corpus,
        cls,
        query,
        expected,
      })),
      questions: asked
        .filter(({ eligible }) => eligible.length > 0)
        .map(({ set, found, ...question }) => ({
          set: set.name,
          corpus: set.corpus,
          ...question,
          found: found.map(({ path }) => path),
        })),
      peers,
    }
    await writeFile(options.report, `${JSON.stringify(report, null, 2)}\n`)
  }
  const isReached = gates.length > 0 && missed.length === 0
  return options.gate && !isReached ? 1 : 0
}

const DEFINITIONS = {
  mrr: `mean of 1/rank of the first right answer among the first ${PLACES} places, 0 without one`,
  recall: `share of questions with a right answer among the first ${PLACES} places`,
  answer: 'an item whose path is expected, or a skill that names an expected supporting file in its files',
  notEligible:
    'search may name none of the expected paths: overviews, community files, files that are not served, pages outside skills',
  live: 'heap and what it holds outside, after a collection; not what SQLite and WebAssembly allocate for themselves',
  cold: 'a new reader and one question; every read takes 15 ms and its bytes at 80 MB/s, the program of the engine costs nothing',
}

async function askService(sets: readonly NamedSet[], repositories: readonly CorpusRepository[], root: string): Promise<Asked[]> {
  const service = await startService({ MOUNTGLASS_LOCAL_REPOSITORIES: root, MOUNTGLASS_LOG: 'warn' })
  try {
    const asked: Asked[] = []
    for (const { owner, name, directory } of repositories) {
      const items = await itemPaths(root, owner, name)
      for (const set of sets.filter(({ corpus }) => corpus === directory)) {
        for (const question of set.queries) {
          const answer = await service.get('find', `/local/${owner}/${name}`, { query: question.query, limit: String(PLACES) })
          if (answer.status !== 'ready') throw new Error(`${directory}: ${answer.status}`)
          const found = answer.items.map(unitOf)
          const eligible = eligibleOf(question.expected, items)
          asked.push({ ...question, set, eligible, found, rank: rankOf(eligible, found) })
        }
      }
    }
    return asked
  } finally {
    await service.stop()
  }
}

async function itemPaths(root: string, owner: string, name: string): Promise<Set<string>> {
  const source = await openSource(root, owner, name)
  const items = await collectItems(source)
  await source.host.close()
  return new Set(items.map(({ path }) => path))
}

function unitOf(item: FoundItem): Unit {
  return { path: item.path, files: item.kind === 'skill' ? item.files.map(({ path }) => path) : [] }
}

/** Figures by set and class. Default: the questions of the project by repository. */
function rowsOf(
  asked: readonly Asked[],
  nameOf = ({ name, corpus, gates }: NamedSet) => (gates ? name : `own: ${corpus}`),
): ClassRow[] {
  const groups = Map.groupBy(asked.toSorted(bySet), ({ set, cls }) => JSON.stringify([nameOf(set), cls]))
  return [...groups].map(([key, questions]) => {
    const [set, cls] = JSON.parse(key) as [string, string]
    const eligible = questions.filter(question => question.eligible.length > 0)
    const quality = qualityOf(eligible.map(({ rank }) => rank))
    const target = TARGETS[cls]
    return {
      set,
      cls,
      ...quality,
      notEligible: questions.length - eligible.length,
      target: target ?? null,
      met: isMet(quality, target),
    }
  })
}

/** Sets that gate first, then by name, then classes in the order of the targets. */
function bySet(left: Asked, right: Asked): number {
  const place = ({ cls }: Asked) => Object.keys(TARGETS).indexOf(cls) + 1 || Number.MAX_SAFE_INTEGER
  const byName = compareBytes(left.set.name, right.set.name) || compareBytes(left.set.corpus, right.set.corpus)
  return Number(right.set.gates) - Number(left.set.gates) || byName || place(left) - place(right)
}

function printable({ set, cls, questions, notEligible, mrr, recall, target, met }: ClassRow) {
  return {
    set,
    class: cls,
    n: questions,
    'not eligible': notEligible,
    'MRR@10': decimals(mrr),
    'recall@10': decimals(recall),
    target: target === null ? '' : `${decimals(target.mrr)}${target.recall === undefined ? '' : ` / ${decimals(target.recall)}`}`,
    reached: met === null ? '' : met ? 'yes' : 'NO',
  }
}

function decimals(value: number | null): string {
  return value === null ? '-' : value.toFixed(3)
}

function printNotEligible(questions: readonly Asked[]): void {
  process.stdout.write(`\nNot eligible: ${questions.length} questions whose expected paths search may not name\n`)
  for (const { set, cls, query, expected } of questions) {
    process.stdout.write(`  ${set.name}  ${cls}  ${query}  →  ${expected.join(', ')}\n`)
  }
}

type PeerRuns = Record<EngineName, Omit<EngineRun, 'ranked'>>

/** The same eligible questions to every engine. */
async function comparePeers(asked: readonly Asked[], repositories: readonly CorpusRepository[], root: string) {
  const eligible = asked.filter(question => question.eligible.length > 0)
  const ranks = new Map<EngineName, Map<Asked, number | null>>(ENGINE_NAMES.map(name => [name, new Map()]))
  const costs: Record<string, PeerRuns> = {}
  for (const repository of repositories) {
    const questions = eligible.filter(({ set }) => set.corpus === repository.directory)
    const queries = questions.map(({ query }) => query)
    const runs: Partial<PeerRuns> = {}
    for (const name of ENGINE_NAMES) {
      const { ranked, ...cost } = await runEngine(name, root, repository, queries, scratch)
      runs[name] = cost
      for (const [index, question] of questions.entries()) {
        ranks.get(name)?.set(question, rankOf(question.eligible, ranked[index] ?? []))
      }
    }
    costs[repository.directory] = runs as PeerRuns
  }

  const groups = Map.groupBy(eligible.toSorted(bySet), ({ set, cls }) => JSON.stringify([set.gates ? SHIPPED : OWN, cls]))
  const quality = [...groups].map(([key, questions]) => {
    const [set, cls] = JSON.parse(key) as [string, string]
    const engines = ENGINE_NAMES.map(name => [name, qualityOf(questions.map(question => ranks.get(name)?.get(question) ?? null))])
    return { set, cls, engines: Object.fromEntries(engines) as Record<EngineName, Quality> }
  })
  printTable(
    'The same questions to other engines (MRR@10 / recall@10)',
    quality.map(({ set, cls, engines }) => ({
      set,
      class: cls,
      n: engines.mountglass.questions,
      ...Object.fromEntries(
        ENGINE_NAMES.map(name => [name, `${decimals(engines[name].mrr)} / ${decimals(engines[name].recall)}`]),
      ),
    })),
  )
  printTable('And what they cost (cold: 15 ms a read and 80 MB/s)', Object.entries(costs).flatMap(costRows))
  const questions = eligible.map(question => {
    const { set, cls, query } = question
    return { corpus: set.corpus, cls, query, ranks: Object.fromEntries([...ranks].map(([name, of]) => [name, of.get(question)])) }
  })
  return { quality, costs, questions }
}

function costRows([corpus, runs]: [string, PeerRuns]): Record<string, string | number>[] {
  return ENGINE_NAMES.map(engine => {
    const run = runs[engine]
    return {
      corpus,
      items: run.items,
      engine,
      'build s': run.buildSeconds,
      objects: run.objects,
      'bundle kB': run.bundleBytes / 1000,
      'live MB': run.liveMegabytes.atOpen,
      'after all': run.liveMegabytes.afterQueries,
      'warm p50 ms': run.warmMilliseconds.p50,
      'p99 ms': run.warmMilliseconds.p99,
      'cold p50 ms': run.coldMilliseconds.p50,
      reads: run.coldReads,
      'read kB': run.coldBytes / 1000,
    }
  })
}

const scratch = await mkdtemp(join(tmpdir(), 'mountglass-eval-'))
try {
  process.exitCode = await evaluate()
} finally {
  await rm(scratch, { recursive: true, force: true })
}
