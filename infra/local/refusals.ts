import type { RepositoryName } from './location.ts'

/** Receives why something in the operator's folder is not served. Clients are never told. */
export type OnRefused = (name: RepositoryName, reason: string) => void

/** The most refusals that are reported and remembered: visitors choose which names are looked up, so there is no end of them. */
const MAX_TOLD = 1_000

/** Tells each refusal of a repository once. Reasons contain no text of the repository. */
export function tellOnce(tell: OnRefused): OnRefused {
  const told = new Set<string>()
  return (name, reason) => {
    const key = `${name.owner}/${name.name} ${reason}`
    if (told.has(key) || told.size >= MAX_TOLD) return
    told.add(key)
    tell(name, reason)
  }
}
