import type { Document, Skill, Text } from './changes-oracle-sides.ts'
import { inBytes, inside } from './changes-oracle-sides.ts'
import { commandsIn, hiddenIn, hostsIn } from './changes-oracle-texts.ts'

/* What the oracle of comparisons tells a reviewer to look at, from the texts of both sides. */

// biome-ignore lint/suspicious/noExplicitAny: facts of several kinds, compared as a whole
type Facts = Record<string, any>

/** A text, and its path as it is compared. */
type Placed = Text & { place: string }

/** @param known the hosts that any text of the old commit links to */
export function factsOfSkill(before: Skill | null, after: Skill, known: ReadonlySet<string>): Facts {
  const executables = after.files
    .filter(one => one.isExecutable)
    .filter(
      one => !before?.files.some(earlier => earlier.isExecutable && inside(before, earlier.path) === inside(after, one.path)),
    )
    .map(({ path }) => path)
  const [was, is] = [before?.description || null, after.description || null]
  return {
    ...factsOfTexts(before === null ? [] : placed(before), placed(after), known),
    ...(was === is ? {} : { description: { before: was, after: is } }),
    ...(executables.length > 0 ? { executables } : {}),
    ...(JSON.stringify(before?.tools ?? null) === JSON.stringify(after.tools)
      ? {}
      : { allowedTools: { before: before?.tools ?? null, after: after.tools } }),
    ...(before === null || before.full === after.full ? {} : { serving: after.full ? 'opened' : 'closed' }),
  }
}

export function factsOfDocument(before: Document | null, after: Document, known: ReadonlySet<string>): Facts {
  const text = (one: Document | null): Placed[] =>
    one?.text == null ? [] : [{ path: one.path, place: 'file', text: one.text, above: 0 }]
  return {
    ...factsOfTexts(text(before), text(after), known),
    ...(before && before.full !== after.full ? { serving: after.full ? 'opened' : 'closed' } : {}),
  }
}

/** All that agents receive of a skill, in order; a file that is an include once. */
export function textsOf(skill: Skill): Text[] {
  const { path, written, rules, body, includes, texts } = skill
  if (!skill.full) return [written]
  const read = [written, ...rules, { path, ...body }, ...includes]
  return [...read, ...texts.filter(file => !read.some(one => one.path === file.path))]
}

function placed(skill: Skill): Placed[] {
  return textsOf(skill).map(text => ({ ...text, place: inside(skill, text.path) }))
}

function factsOfTexts(before: readonly Placed[], after: readonly Placed[], known: ReadonlySet<string>): Facts {
  const hidden = countHidden(after).flatMap(one => {
    const earlier = countHidden(before).find(({ place, codePoint }) => place === one.place && codePoint === one.codePoint)
    const { place: _, ...fact } = { ...one, count: one.count - (earlier?.count ?? 0) }
    return fact.count > 0 ? [fact] : []
  })
  const first = <Fact extends object>(facts: readonly Fact[], keyOf: (fact: Fact) => string) =>
    facts.filter((fact, index) => facts.findIndex(other => keyOf(other) === keyOf(fact)) === index)
  const hosts = first(
    after.flatMap(text => hostsIn(text.text).map(host => ({ host, path: text.path, line: lineOf(text, host) }))),
    ({ host }) => host,
  ).filter(({ host }) => !known.has(host))
  const old = new Set(before.flatMap(({ path, text }) => commandsIn(path, text).map(({ command }) => command)))
  const commands = first(
    after.flatMap(({ path, text, above }) =>
      commandsIn(path, text).map(({ command, line }) => ({ command, path, line: line + above })),
    ),
    ({ command }) => command,
  ).filter(({ command }) => !old.has(command))
  hidden.sort((left, right) => inBytes(left.path, right.path) || inBytes(left.codePoint, right.codePoint))
  hosts.sort((left, right) => inBytes(left.host, right.host))
  return {
    ...(hidden.length > 0 ? { hiddenCharacters: hidden } : {}),
    ...(hosts.length > 0 ? { hosts } : {}),
    ...(commands.length > 0 ? { commands } : {}),
  }
}

function countHidden(texts: readonly Placed[]) {
  const all = texts.flatMap(text =>
    [...hiddenIn(text.text)].map(([codePoint, count]) => ({
      path: text.path,
      place: text.place,
      codePoint,
      count,
      line: lineOf(text, String.fromCodePoint(Number.parseInt(codePoint.slice(2), 16))),
    })),
  )
  const keyOf = ({ place, codePoint }: (typeof all)[number]) => `${codePoint} ${place}`
  return [...Map.groupBy(all, keyOf).values()].map(group => ({
    ...(group[0] as (typeof all)[number]),
    count: group.reduce((sum, { count }) => sum + count, 0),
  }))
}

/** The line of the file with the first URL of a host, or with a character. */
function lineOf({ text, above }: Text, what: string): number {
  const lines = text.split('\n')
  const at = lines.findIndex(line =>
    what.length > 2 ? hostsIn(line).includes(what) : hiddenIn(line).size > 0 && line.includes(what),
  )
  return above + Math.max(at, 0) + 1
}
