import type { ChangeFacts } from '../contract/changes.ts'
import { canonicalJson } from '../snapshot/canonical-json.ts'
import {
  type DeliveredDocument,
  type DeliveredFacts,
  type DeliveredSkill,
  type DeliveredText,
  textKey,
} from '../snapshot/delivered.ts'
import { compareBytes } from '../text.ts'
import type { Compared, Sided } from './items.ts'
import { byLocalPath, localTo } from './parts.ts'

/* What a reviewer looks for on the new side: what it has more of than the old one. Pure. */

/** The facts of texts that skills share, by `textKey`. */
export type TextFacts = ReadonlyMap<string, DeliveredFacts>

/** The keys of the facts that `factsOfSkill` needs of one side. */
export function textKeysOf(side: Sided<DeliveredSkill> | null): string[] {
  const full = side?.row.full
  if (full === undefined) return []
  return [...keysOf('rules', full.rules), ...keysOf('includes', full.includes)]
}

function keysOf(kind: 'rules' | 'includes', texts: readonly DeliveredText[]): string[] {
  return texts.map(([path]) => textKey(kind, path))
}

/** @param texts the facts of rules and includes: those of each side by its `textKeysOf` */
export function factsOfSkill(
  { before, after }: Compared<DeliveredSkill>,
  texts: { before: TextFacts; after: TextFacts },
): ChangeFacts {
  if (after === null) return {}
  const old = before === null ? [] : textsWithFacts(before, texts.before)
  const executables = newExecutables(before, after)
  return {
    ...factsOfTexts(old, textsWithFacts(after, texts.after)),
    ...(executables.length > 0 && { executables }),
    ...toolsThatDiffer(before?.row, after.row),
    ...(before === null ? {} : servingThatChanged(before.row.full !== undefined, after.row.full !== undefined)),
  }
}

export function factsOfDocument({ before, after }: Compared<DeliveredDocument>): ChangeFacts {
  if (after === null) return {}
  // A document is one text, wherever it lies.
  const one = ({ path, row }: Sided<DeliveredDocument>): TextWithFacts => ({ path, local: '', facts: row.facts })
  return {
    ...factsOfTexts(before === null ? [] : [one(before)], [one(after)]),
    ...(before === null ? {} : servingThatChanged(before.row.full, after.row.full)),
  }
}

interface TextWithFacts {
  path: string
  /** The path as it is compared. */
  local: string
  facts: DeliveredFacts
}

/** In order of delivery. */
function textsWithFacts(side: Sided<DeliveredSkill>, shared: TextFacts): TextWithFacts[] {
  const { full } = side.row
  if (full === undefined) return []
  const local = localTo(side)
  const of = ([path]: DeliveredText, facts: DeliveredFacts): TextWithFacts => ({ path, local: local(path), facts })
  return [
    ...full.rules.map(text => of(text, shared.get(textKey('rules', text[0])) ?? {})),
    of(full.body, full.facts),
    ...full.includes.map(text => of(text, shared.get(textKey('includes', text[0])) ?? {})),
  ]
}

function factsOfTexts(
  before: readonly TextWithFacts[],
  after: readonly TextWithFacts[],
): Pick<ChangeFacts, 'hiddenCharacters' | 'hosts'> {
  const counts = new Map(
    before.flatMap(({ local, facts }) => (facts.hidden ?? []).map(([codePoint, count]) => [`${codePoint} ${local}`, count])),
  )
  const hiddenCharacters = after.flatMap(({ path, local, facts }) =>
    (facts.hidden ?? [])
      .map(([codePoint, count]) => ({ path, codePoint, count: count - (counts.get(`${codePoint} ${local}`) ?? 0) }))
      .filter(({ count }) => count > 0),
  )
  const linked = new Set(before.flatMap(({ facts }) => facts.hosts ?? []))
  const hosts = after.flatMap(({ path, facts }) =>
    (facts.hosts ?? []).filter(host => !linked.has(host)).map(host => ({ host, path })),
  )
  hiddenCharacters.sort((left, right) => compareBytes(left.path, right.path))
  hosts.sort((left, right) => compareBytes(left.host, right.host) || compareBytes(left.path, right.path))
  return { ...(hiddenCharacters.length > 0 && { hiddenCharacters }), ...(hosts.length > 0 && { hosts }) }
}

/** Executable files of the new side that were not there, or not executable. In path order. */
function newExecutables(before: Sided<DeliveredSkill> | null, after: Sided<DeliveredSkill>): string[] {
  const old = before === null ? new Map() : byLocalPath(before.row.full?.files ?? [], localTo(before))
  const local = localTo(after)
  return (after.row.full?.files ?? [])
    .filter(([path, , , isExecutable]) => isExecutable === 1 && old.get(local(path))?.[3] !== 1)
    .map(([path]) => path)
}

function toolsThatDiffer(before: DeliveredSkill | undefined, after: DeliveredSkill): Pick<ChangeFacts, 'allowedTools'> {
  const [was, is] = [before?.allowedTools ?? null, after.allowedTools ?? null]
  return canonicalJson(was) === canonicalJson(is) ? {} : { allowedTools: { before: was, after: is } }
}

function servingThatChanged(was: boolean, is: boolean): Pick<ChangeFacts, 'serving'> {
  return was === is ? {} : { serving: is ? 'opened' : 'closed' }
}
