import { printTable } from '#test/bench/measure.ts'
import type { CorpusRepository } from '#test/support/corpus.ts'
import { type Asked, bySet, OWN, SHIPPED } from './ask.ts'
import { decimals, type Quality, qualityOf, rankOf } from './metrics.ts'
import { ENGINE_NAMES, type EngineName, type EngineRun, runEngine } from './peers.ts'

type Costs = Record<EngineName, Omit<EngineRun, 'ranked'>>

/** Gives the same eligible questions to every engine, prints what they find and what that costs, and returns it for the report. */
export async function comparePeers(
  asked: readonly Asked[],
  repositories: readonly CorpusRepository[],
  root: string,
  scratch: string,
) {
  const eligible = asked.filter(question => question.eligible.length > 0)
  const ranks = new Map<EngineName, Map<Asked, number | null>>(ENGINE_NAMES.map(name => [name, new Map()]))
  const costs: Record<string, Costs> = {}
  for (const repository of repositories) {
    const questions = eligible.filter(({ set }) => set.corpus === repository.directory)
    const queries = questions.map(({ query }) => query)
    const runs: Partial<Costs> = {}
    for (const name of ENGINE_NAMES) {
      const { ranked, ...cost } = await runEngine(name, root, repository, queries, scratch)
      runs[name] = cost
      for (const [index, question] of questions.entries()) {
        ranks.get(name)?.set(question, rankOf(question.eligible, ranked[index] ?? []))
      }
    }
    costs[repository.directory] = runs as Costs
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

function costRows([corpus, runs]: [string, Costs]): Record<string, string | number>[] {
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
