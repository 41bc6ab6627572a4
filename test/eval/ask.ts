import type { FoundItem } from '#core/contract/find.ts'
import { compareBytes } from '#core/text.ts'
import { type CorpusRepository, corpusRepositories, unpackCorpus } from '#test/support/corpus.ts'
import { startService } from '#test/support/service.ts'
import { adaptLicense } from './adapted.ts'
import { collectItems, openSource } from './items.ts'
import { eligibleOf, isMet, PLACES, type Quality, qualityOf, rankOf, TARGETS, type Target, type Unit } from './metrics.ts'
import type { NamedSet, Question } from './sets.ts'

/** One question with what the search made of it. */
export interface Asked extends Question {
  set: NamedSet
  /** Empty: search may name none of the expected paths, so the question counts nowhere. */
  eligible: string[]
  found: Unit[]
  rank: number | null
}

export interface ClassRow extends Quality {
  set: string
  cls: string
  notEligible: number
  /** `null` for questions that do not gate. */
  target: Target | null
  met: boolean | null
}

/** Names of all sets of a kind together. */
export const SHIPPED = 'shipped sets'
export const OWN = 'own questions'

/** What of the corpus the sets ask for, as git repositories below a folder. `notes` say what was altered. */
export async function unpackRepositories(
  corpus: string,
  sets: readonly NamedSet[],
  root: string,
): Promise<{ repositories: CorpusRepository[]; notes: string[] }> {
  const repositories = corpusRepositories(corpus).filter(({ directory }) => sets.some(set => set.corpus === directory))
  const notes: string[] = []
  for (const repository of repositories) {
    await unpackCorpus(corpus, repository, root, folder => {
      const note = adaptLicense(repository.directory, folder)
      if (note !== null) notes.push(note)
    })
  }
  return { repositories, notes }
}

/** Asks the real service over HTTP, in a process of its own, every question of the sets. */
export async function askService(
  sets: readonly NamedSet[],
  repositories: readonly CorpusRepository[],
  root: string,
): Promise<Asked[]> {
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

/** Figures by class, of all sets of a kind together. */
export function rowsByKind(asked: readonly Asked[]): ClassRow[] {
  return rowsOf(asked, ({ gates }) => (gates ? SHIPPED : OWN))
}

/** Figures by class and set; of the project's own questions by repository. */
export function rowsBySet(asked: readonly Asked[]): ClassRow[] {
  return rowsOf(asked, ({ name, corpus, gates }) => (gates ? name : `own: ${corpus}`))
}

function rowsOf(asked: readonly Asked[], nameOf: (set: NamedSet) => string): ClassRow[] {
  const groups = Map.groupBy(asked.toSorted(bySet), ({ set, cls }) => JSON.stringify([nameOf(set), cls]))
  return [...groups].map(([key, questions]) => {
    const [set, cls] = JSON.parse(key) as [string, string]
    const eligible = questions.filter(question => question.eligible.length > 0)
    const quality = qualityOf(eligible.map(({ rank }) => rank))
    const target = set === SHIPPED ? (TARGETS[cls] ?? null) : null
    return { set, cls, ...quality, notEligible: questions.length - eligible.length, target, met: isMet(quality, target) }
  })
}

/** Sets that gate first, then by name, then classes in the order of the targets. */
export function bySet(left: Asked, right: Asked): number {
  const place = ({ cls }: Asked) => Object.keys(TARGETS).indexOf(cls) + 1 || Number.MAX_SAFE_INTEGER
  const byName = compareBytes(left.set.name, right.set.name) || compareBytes(left.set.corpus, right.set.corpus)
  return Number(right.set.gates) - Number(left.set.gates) || byName || place(left) - place(right)
}
