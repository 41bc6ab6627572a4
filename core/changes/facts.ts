import type { ChangeFacts } from '../contract/changes.ts'
import type { SkillFacts } from '../contract/skill.ts'
import { FACTS_PER_ITEM } from '../limits.ts'
import { canonicalJson } from '../snapshot/canonical-json.ts'
import {
  type DeliveredDocument,
  type DeliveredFacts,
  type DeliveredSkill,
  type DeliveredText,
  type FactKind,
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

/** What facts are taken from besides the items. */
export interface FactSources {
  /** The facts of rules and includes: those of each side by its `textKeysOf`. */
  before: TextFacts
  after: TextFacts
  /** Of the hosts of the new side by `hostsOfSide`, those that the old commit links to, wherever it does. */
  knownHosts: ReadonlySet<string>
}

export function factsOfSkill({ before, after }: Compared<DeliveredSkill>, sources: FactSources): ChangeFacts {
  if (after === null) return {}
  const old = before === null ? [] : textsOfSkill(before, sources.before)
  const texts = factsOfTexts(old, textsOfSkill(after, sources.after), sources.knownHosts)
  const { items: executables, isCut } = cutList(newExecutables(before, after))
  const truncated = [...(texts.truncated ?? []), ...(isCut ? (['executables'] as const) : [])]
  return {
    ...texts,
    ...descriptionThatDiffers(before?.row, after.row),
    ...(executables.length > 0 && { executables }),
    ...toolsThatDiffer(before?.row, after.row),
    ...(before === null ? {} : servingThatChanged(before.row.full !== undefined, after.row.full !== undefined)),
    ...(truncated.length > 0 && { truncated }),
  }
}

/** All facts of a skill that stand beside its texts. @param texts the facts of its rules and includes */
export function factsOfWholeSkill(side: Sided<DeliveredSkill>, texts: TextFacts): SkillFacts {
  const sources = { before: new Map(), after: texts, knownHosts: new Set<string>() }
  const { hosts, commands, executables, truncated = [] } = factsOfSkill({ before: null, after: side }, sources)
  const cut = truncated.filter(kind => kind !== 'hiddenCharacters')
  return {
    ...(hosts && { hosts }),
    ...(commands && { commands }),
    ...(executables && { executables }),
    ...(cut.length > 0 && { truncated: cut }),
  }
}

export function factsOfDocument(
  { before, after }: Compared<DeliveredDocument>,
  { knownHosts }: Pick<FactSources, 'knownHosts'>,
): ChangeFacts {
  if (after === null) return {}
  return {
    ...factsOfTexts(before === null ? [] : textsOfDocument(before), textsOfDocument(after), knownHosts),
    ...(before === null ? {} : servingThatChanged(before.row.full, after.row.full)),
  }
}

/** The hosts that an item links to. @param texts the facts of its rules and includes */
export function hostsOfSide(side: Sided<DeliveredSkill> | Sided<DeliveredDocument>, texts: TextFacts): string[] {
  const all = isSkill(side) ? textsOfSkill(side, texts) : textsOfDocument(side as Sided<DeliveredDocument>)
  return all.flatMap(({ facts: { hosts = [] } }) => hosts.map(([host]) => host))
}

function isSkill(side: Sided<DeliveredSkill> | Sided<DeliveredDocument>): side is Sided<DeliveredSkill> {
  return side.row.kind === 'skill'
}

interface TextWithFacts {
  path: string
  /** The path by which the texts of two commits are paired: below the folder of the skill. */
  local: string
  /** Differs where the text does. */
  digest: string | null
  facts: DeliveredFacts
}

/** A document is one text, wherever it lies. */
function textsOfDocument({ path, row }: Sided<DeliveredDocument>): TextWithFacts[] {
  return [{ path, local: '', digest: row.file?.sha256 ?? null, facts: row.facts }]
}

/** In order of delivery; the description first, as agents read it before the rest. */
function textsOfSkill(side: Sided<DeliveredSkill>, shared: TextFacts): TextWithFacts[] {
  const { full, metadata, descriptionFacts } = side.row
  const local = localTo(side)
  const of = (path: string, digest: string | null, facts: DeliveredFacts): TextWithFacts => ({
    path,
    local: local(path),
    digest,
    facts,
  })
  const description = of(side.path, metadata, descriptionFacts)
  if (full === undefined) return [description]
  const sharedText = (kind: 'rules' | 'includes', [path, digest]: DeliveredText) =>
    of(path, digest, shared.get(textKey(kind, path)) ?? {})
  const texts = [
    description,
    ...full.rules.map(text => sharedText('rules', text)),
    of(full.body[0], full.body[1], full.facts),
    ...full.includes.map(text => sharedText('includes', text)),
  ]
  // A file that is an include, too, is one text.
  const delivered = new Set(texts.map(({ path }) => path))
  const digests = new Map(full.files.map(([path, , digest]) => [path, digest]))
  const files = full.fileFacts.filter(([path]) => !delivered.has(path))
  return [...texts, ...files.map(([path, facts]) => of(path, digests.get(path) ?? null, facts))]
}

type FactsOfTexts = Pick<ChangeFacts, 'hiddenCharacters' | 'hosts' | 'commands' | 'truncated'>

/** Each fact once, at its first place. */
function factsOfTexts(
  before: readonly TextWithFacts[],
  after: readonly TextWithFacts[],
  knownHosts: ReadonlySet<string>,
): FactsOfTexts {
  const lists = {
    hiddenCharacters: cutList(newCharacters(before, after)),
    hosts: cutList(newHosts(after, knownHosts)),
    commands: cutList(newCommands(before, after)),
  }
  const stored = cutKinds(before, after)
  const kinds = Object.keys(STORED_KINDS) as (keyof typeof STORED_KINDS)[]
  const truncated = kinds.filter(kind => lists[kind].isCut || stored.has(STORED_KINDS[kind]))
  const { hiddenCharacters, hosts, commands } = lists
  return {
    ...(hiddenCharacters.items.length > 0 && { hiddenCharacters: hiddenCharacters.items }),
    ...(hosts.items.length > 0 && { hosts: hosts.items }),
    ...(commands.items.length > 0 && { commands: commands.items }),
    ...(truncated.length > 0 && { truncated }),
  }
}

const STORED_KINDS = { hiddenCharacters: 'hidden', hosts: 'hosts', commands: 'commands' } as const satisfies Record<
  string,
  FactKind
>

/** The kinds of facts that a limit cut in a text of the new side. A text that is the same on the old side does not count. */
function cutKinds(before: readonly TextWithFacts[], after: readonly TextWithFacts[]): ReadonlySet<FactKind> {
  const same = new Set(before.map(({ local, digest }) => `${digest} ${local}`))
  const changed = after.filter(({ local, digest }) => digest === null || !same.has(`${digest} ${local}`))
  return new Set(changed.flatMap(({ facts: { cut = [] } }) => cut))
}

function cutList<Item>(items: readonly Item[]): { items: Item[]; isCut: boolean } {
  return { items: items.slice(0, FACTS_PER_ITEM), isCut: items.length > FACTS_PER_ITEM }
}

type Fact<Kind extends keyof FactsOfTexts> = NonNullable<FactsOfTexts[Kind]>[number]

/** By path, then code point. The description and the body of a skill are one file. */
function newCharacters(before: readonly TextWithFacts[], after: readonly TextWithFacts[]): Fact<'hiddenCharacters'>[] {
  const old = charactersOf(before)
  const found = [...charactersOf(after)].map(([key, fact]) => ({ ...fact, count: fact.count - (old.get(key)?.count ?? 0) }))
  return found
    .filter(({ count }) => count > 0)
    .sort((left, right) => compareBytes(left.path, right.path) || compareBytes(left.codePoint, right.codePoint))
}

function charactersOf(texts: readonly TextWithFacts[]): Map<string, Fact<'hiddenCharacters'>> {
  const found = new Map<string, Fact<'hiddenCharacters'>>()
  for (const { path, local, facts } of texts) {
    for (const [codePoint, count, line] of facts.hidden ?? []) {
      const key = `${codePoint} ${local}`
      const earlier = found.get(key)
      found.set(key, earlier ? { ...earlier, count: earlier.count + count } : { path, line, codePoint, count })
    }
  }
  return found
}

/** By host. */
function newHosts(after: readonly TextWithFacts[], knownHosts: ReadonlySet<string>): Fact<'hosts'>[] {
  const found = new Map<string, Fact<'hosts'>>()
  for (const { path, facts } of after) {
    for (const [host, line] of facts.hosts ?? [])
      if (!found.has(host) && !knownHosts.has(host)) found.set(host, { host, path, line })
  }
  return [...found.values()].sort((left, right) => compareBytes(left.host, right.host))
}

/** In order of delivery. */
function newCommands(before: readonly TextWithFacts[], after: readonly TextWithFacts[]): Fact<'commands'>[] {
  const old = new Set(before.flatMap(({ facts }) => (facts.commands ?? []).map(spellCommand)))
  const found = new Map<string, Fact<'commands'>>()
  for (const { path, facts } of after) {
    for (const written of facts.commands ?? []) {
      const key = spellCommand(written)
      if (!old.has(key) && !found.has(key)) found.set(key, { command: written[0], path, line: written[1] })
    }
  }
  return [...found.values()]
}

/** A long command is known by its digest. */
function spellCommand([command, , digest]: NonNullable<DeliveredFacts['commands']>[number]): string {
  return digest ?? ` ${command}`
}

/** A side without a description has none to compare. */
function descriptionThatDiffers(before: DeliveredSkill | undefined, after: DeliveredSkill): Pick<ChangeFacts, 'description'> {
  const [was, is] = [before?.description || null, after.description || null]
  return was === is ? {} : { description: { before: was, after: is } }
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
