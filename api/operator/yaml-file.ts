import { CORE_SCHEMA, EVENT_ID, type Event, getScalarValue, load, parseEvents, YAMLException } from 'js-yaml'
import type { z } from 'zod'
import { t } from '#words/t.ts'

/** A fault in a file, with its line. */
export class FileFault extends Error {
  /** Counted from 1; `null` for the file as a whole. */
  readonly line: number | null
  /** Further faults of the same file. */
  readonly also: readonly FileFault[]

  constructor(line: number | null, message: string, also: readonly FileFault[] = []) {
    super(message)
    this.name = 'FileFault'
    this.line = line
    this.also = also
  }
}

/** The value of a file, with the lines of its parts. */
export interface YamlFile<Value> {
  value: Value
  /** A fault at the line of the value at the path, or of its nearest parent that has a line. */
  fault(path: readonly PropertyKey[], message: string): FileFault
}

const DEPTH = 16

/**
 * Parses a YAML file by a schema. A file of only comments is an empty list. Aliases are refused.
 *
 * @throws FileFault
 */
export function parseYamlFile<Value>(text: string, schema: z.ZodType<Value>): YamlFile<Value> {
  const fault = (path: readonly PropertyKey[], message: string) => new FileFault(lineOf(text, path), message)
  const parsed = schema.safeParse(loadText(text))
  if (parsed.success) return { value: parsed.data, fault }
  const { issues } = parsed.error
  // An unknown key is reported first: a misspelt one is why another is missing.
  const unknown = issues.filter(({ code }) => code === 'unrecognized_keys')
  const others = issues.filter(one => !unknown.some(({ path }) => keyOf(one.path.slice(0, path.length)) === keyOf(path)))
  const faults = [...unknown, ...others].map(issue => {
    const path = [...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])]
    const name = path.findLast(part => typeof part === 'string')
    return fault(path, `${name === undefined ? '' : `${name}: `}${issue.message}`)
  })
  throw joinFaults(faults) ?? new FileFault(null, t('fault.notValid'))
}

/** One fault that carries the others; `null` without any. */
export function joinFaults([first, ...others]: readonly FileFault[]): FileFault | null {
  return first === undefined ? null : new FileFault(first.line, first.message, [...first.also, ...others])
}

function loadText(text: string): unknown {
  if (text.split(/\r?\n/).every(line => /^\s*(?:#.*)?$/.test(line))) return []
  try {
    return load(text, { schema: CORE_SCHEMA, maxDepth: DEPTH, maxAliases: 0 })
  } catch (error) {
    if (error instanceof YAMLException) throw new FileFault(error.mark ? error.mark.line + 1 : null, error.reason)
    throw new FileFault(null, t('fault.notYaml'))
  }
}

function lineOf(text: string, path: readonly PropertyKey[]): number {
  const offsets = offsetsOf(text)
  for (let length = path.length; length > 0; length--) {
    const offset = offsets.get(keyOf(path.slice(0, length)))
    if (offset !== undefined) return text.slice(0, offset).split('\n').length
  }
  return 1
}

function keyOf(path: readonly PropertyKey[]): string {
  return path.map(String).join('\0')
}

/** A list or mapping being read. `key` belongs to the next value; `null`: the next scalar is the key. */
interface OpenNode {
  path: PropertyKey[]
  key: number | string | null
  isList: boolean
}

/** The offset of the value of every path; a value in a mapping has the offset of its key. */
function offsetsOf(text: string): Map<string, number> {
  const offsets = new Map<string, number>()
  const open: OpenNode[] = []
  for (const event of parseEvents(text, { maxDepth: DEPTH })) {
    if (event.type === EVENT_ID.POP) open.pop()
    const start = startOf(event)
    if (start === null) continue
    const parent = open.at(-1)
    if (parent?.key === null) {
      parent.key = event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : ''
      offsets.set(keyOf([...parent.path, parent.key]), start)
      continue
    }
    const path = parent ? [...parent.path, parent.key as number | string] : []
    if (parent?.isList) offsets.set(keyOf(path), start)
    if (parent) parent.key = parent.isList ? Number(parent.key) + 1 : null
    if (event.type === EVENT_ID.SEQUENCE) open.push({ path, key: 0, isList: true })
    if (event.type === EVENT_ID.MAPPING) open.push({ path, key: null, isList: false })
  }
  return offsets
}

/** Offset of the node that an event starts; `null` for other events. */
function startOf(event: Event): number | null {
  if (event.type === EVENT_ID.SCALAR) return event.valueStart
  return event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING ? event.start : null
}
