import type { DeliveredFacts, FactKind } from '#core/snapshot/delivered.ts'
import { countLineBreaks } from './hidden-lines.ts'
import { factsOfText } from './text-facts.ts'

/**
 * What a reviewer looks for in the description of a skill, as it is written: listings leave hidden characters out.
 *
 * @param head the text of the file up to the end of its front matter
 * @param description the value of the field
 */
export function factsOfDescription(head: string, description: string): DeliveredFacts {
  const facts = factsOfText(description, 'markup')
  if (Object.keys(facts).length === 0) return facts
  const at = FIELD.exec(head)?.index ?? 0
  const linesBefore = countLineBreaks(head, 0, at)
  // YAML may fold lines and escape characters: what cannot be found as it is written stands at the line of the field.
  const written = factsOfText(fieldAt(head, at), 'markup', linesBefore)
  const lineOf = (kind: FactKind, fact: string) => lines(written, kind).get(fact) ?? linesBefore + 1
  const { hidden, hosts, commands } = facts
  return {
    ...facts,
    ...(hidden && { hidden: hidden.map(([codePoint, count]) => [codePoint, count, lineOf('hidden', codePoint)]) }),
    ...(hosts && { hosts: hosts.map(([host]) => [host, lineOf('hosts', host)]) }),
    ...(commands && { commands: commands.map(([command, , ...digest]) => [command, lineOf('commands', command), ...digest]) }),
  }
}

const FIELD = /^["']?description["']?[ \t]*:/m

/** The lines of a field: the first, and those below it that are blank or indented. */
function fieldAt(head: string, at: number): string {
  const [first = '', ...others] = head.slice(at).split('\n')
  const end = others.findIndex(line => /^\S/.test(line))
  return [first, ...others.slice(0, end < 0 ? others.length : end)].join('\n')
}

function lines(facts: DeliveredFacts, kind: FactKind): ReadonlyMap<string, number> {
  if (kind === 'hidden') return new Map((facts.hidden ?? []).map(([codePoint, , line]) => [codePoint, line]))
  return new Map((facts[kind] ?? []).map(([fact, line]) => [fact, line]))
}
