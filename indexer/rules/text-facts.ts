import { hash } from 'node:crypto'
import { codePointName, hiddenCharacters } from '#core/hidden-text.ts'
import { COMMAND_CHARACTERS, FACTS_PER_TEXT } from '#core/limits.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import { type DeliveredFacts, type Digest, FACT_KINDS, type FactKind } from '#core/snapshot/delivered.ts'
import { compareBytes, detached, sliceCharacters, withoutTrailing } from '#core/text.ts'
import { type CodePlace, commandsIn } from './commands.ts'
import { countLineBreaks } from './hidden-lines.ts'

/**
 * What a reviewer looks for in a text that agents receive: hidden characters, the hosts of http(s) links, and commands, each with the line where it
 * occurs first.
 *
 * @param place where the commands of the text stand
 * @param linesBefore lines of the file above the text
 */
export function factsOfText(text: string, place: CodePlace, linesBefore = 0): DeliveredFacts {
  const found = {
    hidden: hiddenIn(text, linesBefore),
    hosts: hostsIn(text, linesBefore),
    commands: toldCommands(text, place, linesBefore),
  }
  return boundFacts(found, FACTS_PER_TEXT)
}

/** The facts without those beyond a limit, and without kinds that have none. @param limits of each kind */
export function boundFacts(
  { hidden = [], hosts = [], commands = [], cut = [] }: DeliveredFacts,
  limits: Readonly<Record<FactKind, number>>,
): DeliveredFacts {
  const found = { hidden, hosts, commands }
  const isCut = (kind: FactKind) => found[kind].length > limits[kind] || cut.includes(kind)
  const cutNow = FACT_KINDS.filter(isCut)
  return {
    ...(hidden.length > 0 && limits.hidden > 0 && { hidden: hidden.slice(0, limits.hidden) }),
    ...(hosts.length > 0 && limits.hosts > 0 && { hosts: hosts.slice(0, limits.hosts) }),
    ...(commands.length > 0 && limits.commands > 0 && { commands: commands.slice(0, limits.commands) }),
    ...(cutNow.length > 0 && { cut: cutNow }),
  }
}

/** How many facts there are. */
export function countFacts({ hidden = [], hosts = [], commands = [] }: DeliveredFacts): number {
  return hidden.length + hosts.length + commands.length
}

type Found<Kind extends FactKind> = NonNullable<DeliveredFacts[Kind]>

/** Every hidden character by its code point, and how often it occurs. */
function hiddenIn(text: string, linesBefore: number): Found<'hidden'> {
  const found = new Map<string, { count: number; line: number }>()
  const lineAt = lineCounter(text, linesBefore)
  for (const { character, index } of hiddenCharacters(text)) {
    const known = found.get(character)
    if (known === undefined) found.set(character, { count: 1, line: lineAt(index) })
    else known.count++
  }
  return [...found]
    .sort(([left], [right]) => compareBytes(left, right))
    .map(([character, { count, line }]) => [codePointName(character), count, line])
}

/**
 * The hosts of all http(s) URLs of a text, wherever they stand: agents follow one in a code block, too. In lower case, without port, as a URL parser
 * spells them; each once, in the order of the text.
 */
export function hostsIn(text: string, linesBefore = 0): Found<'hosts'> {
  const hosts = new Map<string, number>()
  const lineAt = lineCounter(text, linesBefore)
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    if (!SCHEME.test(text.slice(Math.max(0, at - 5), at))) continue
    const after = text.slice(at + 3, at + 3 + AUTHORITY_CHARACTERS)
    for (const host of [hostOf(AUTHORITY.exec(after)?.[0] ?? ''), longerHostOf(after)])
      if (host !== null && !hosts.has(host)) hosts.set(detached(host), lineAt(at))
    if (hosts.size > FACTS_PER_TEXT.hosts) break
  }
  return [...hosts]
}

/** Each command once. */
function toldCommands(text: string, place: CodePlace, linesBefore: number): Found<'commands'> {
  const found = new Map<string, Found<'commands'>[number]>()
  for (const { command, at, line } of commandsIn(text, place)) {
    if (!found.has(command)) found.set(command, toldCommand(command, at, line + linesBefore))
    if (found.size > FACTS_PER_TEXT.commands) break
  }
  return [...found.values()]
}

/** A long one begins where it is to be looked at. Its digest tells it from others that begin alike. */
function toldCommand(command: string, at: number, line: number): Found<'commands'>[number] {
  const short = sliceCharacters(command, 0, COMMAND_CHARACTERS)
  if (short === command) return [detached(command), line]
  return [detached(sliceCharacters(command.slice(at), 0, COMMAND_CHARACTERS)), line, digestOf(command)]
}

/** The lines of places in a text, which are asked for in their order. */
function lineCounter(text: string, linesBefore: number): (index: number) => number {
  let [from, line] = [0, linesBefore + 1]
  return index => {
    line += countLineBreaks(text, from, index)
    from = index
    return line
  }
}

const SCHEME = /(?:^|[^a-z0-9+.-])http$|https$/i
/** The bound of a host is 253 characters; a name and a password may precede it. */
const AUTHORITY_CHARACTERS = 1_024
const AUTHORITY = /^[^\s/?#\\"'<>(){}|^`]*/
/** A host may be followed by a port, or by what ends a sentence or an emphasis. */
const HOST = /^(?:\[[\da-f:.]+\]|[\p{L}\p{M}\p{N}\p{Cf}._~%-]+)/iu

function hostOf(authority: string): string | null {
  const written = withoutTrailing(HOST.exec(authority.slice(authority.lastIndexOf('@') + 1))?.[0] ?? '', /[.~_-]/)
  if (written === '') return null
  if (/^[\w.-]+$/.test(written)) return written.toLowerCase()
  return parsedHost(written)
}

function parsedHost(written: string): string | null {
  return URL.canParse(`http://${written}/`) ? new URL(`http://${written}/`).hostname : null
}

/**
 * A host that goes on behind what looks like its end, as a URL parser reads it; `null` if it ends there. A parser takes `。` for a dot, permits most
 * signs in a host, and permits quotes and parentheses before an `@`.
 */
function longerHostOf(text: string): string | null {
  const [authority = ''] = LONGER_AUTHORITY.exec(text) ?? []
  const nameEnd = authority.lastIndexOf('@') + 1
  const [written, behind = ''] = SIGNED_HOST.exec(authority.slice(nameEnd)) ?? []
  if (written !== undefined && DOT.test(behind)) return parsedHost(written)
  return nameEnd > (AUTHORITY.exec(text)?.[0] ?? '').length ? hostOf(authority.slice(nameEnd)) : null
}

const LONGER_AUTHORITY = /^[^\s/?#\\"<>]*/
/** A host, a sign, and what stands behind it. A sign before a letter of a script without spaces is the end of a sentence. */
const SIGNED_HOST =
  /^[\p{L}\p{M}\p{N}\p{Cf}._~%-]+((?:[!$&*+,;=]|(?!\p{ASCII})[\p{P}\p{S}]){1,8}(?=[a-z\d.\uff10-\uff5a-])(?:[\p{L}\p{M}\p{N}\p{Cf}._~%!$&*+,;=-]|(?!\p{ASCII})[\p{P}\p{S}])*)/iu
const DOT = /[.\u3002\uff0e\uff61][\p{L}\p{N}]/u

export const DIGEST_CHARACTERS = 32

/** Tells whether two values are the same. */
export function digestOf(value: unknown): Digest {
  return hash('sha256', canonicalJson(value)).slice(0, DIGEST_CHARACTERS)
}
