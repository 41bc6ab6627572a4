import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { printTable } from '#test/bench/measure.ts'
import { CORPUS } from '#test/support/corpus.ts'
import { type Asked, askService, type ClassRow, rowsByKind, rowsBySet, unpackRepositories } from './ask.ts'
import { comparePeers } from './compare.ts'
import { decimals, PLACES } from './metrics.ts'
import { readSets } from './sets.ts'

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
  const { repositories, notes } = await unpackRepositories(CORPUS, sets, root)
  const asked = await askService(sets, repositories, root)
  const kinds = rowsByKind(asked)
  const rows = [...kinds, ...rowsBySet(asked)]
  const gates = kinds.filter(({ target }) => target !== null)
  const missed = gates.filter(({ met }) => met !== true)
  const notEligible = asked.filter(({ eligible }) => eligible.length === 0)

  for (const note of notes) process.stdout.write(`note: ${note}\n`)
  printTable(`Quality of find over HTTP (first ${PLACES} places)`, rows.map(printable))
  printNotEligible(notEligible)
  const peers = options.peers ? await comparePeers(asked, repositories, root, scratch) : null
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

function printNotEligible(questions: readonly Asked[]): void {
  process.stdout.write(`\nNot eligible: ${questions.length} questions whose expected paths search may not name\n`)
  for (const { set, cls, query, expected } of questions) {
    process.stdout.write(`  ${set.name}  ${cls}  ${query}  →  ${expected.join(', ')}\n`)
  }
}

const scratch = await mkdtemp(join(tmpdir(), 'mountglass-eval-'))
try {
  process.exitCode = await evaluate()
} finally {
  await rm(scratch, { recursive: true, force: true })
}
