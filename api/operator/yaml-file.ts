import { CORE_SCHEMA, EVENT_ID, type Event, getScalarValue, load, parseEvents, YAMLException } from 'js-yaml'
import type { z } from 'zod'

/** What is wrong with a file, and where. */
export class FileFault extends Error {
  /** From 1 on; `null` for the file as a whole. */
  readonly line: number | null

  constructor(line: number | null, message: string) {
    super(message)
    this.name = 'FileFault'
    this.line = line
  }
}

/** A value of a file, and in which line each part of it stands. */
export interface YamlFile<Value> {
  value: Value
  /** A fault of the value at the path, or of the nearest part around it. */
  fault(path: readonly PropertyKey[], message: string): FileFault
}

const DEPTH = 16

/**
 * Parses a YAML file by a schema. A file of nothing but comments is an empty list. Aliases are refused.
 *
 * @throws FileFault
 */
export function parseYamlFile<Value>(text: string, schema: z.ZodType<Value>): YamlFile<Value> {
  const fault = (path: readonly PropertyKey[], message: string) => new FileFault(lineOf(text, path), message)
  const parsed = schema.safeParse(loadText(text))
  if (parsed.success) return { value: parsed.data, fault }
  const { issues } = parsed.error
  // A misspelt key is the reason why another one is missing.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]
  const path = [...(issue?.path ?? []), ...(issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])]
  const name = path.findLast(part => typeof part === 'string')
  throw fault(path, `${name === undefined ? '' : `${name}: `}${issue?.message ?? 'is not valid'}`)
}

function loadText(text: string): unknown {
  if (text.split(/\r?\n/).every(line => /^\s*(?:#.*)?$/.test(line))) return []
  try {
    return load(text, { schema: CORE_SCHEMA, maxDepth: DEPTH, maxAliases: 0 })
  } catch (error) {
    if (error instanceof YAMLException) throw new FileFault(error.mark ? error.mark.line + 1 : null, error.reason)
    throw new FileFault(null, 'is not YAML')
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

/** A list or mapping that is being gone through. `key` is that of the value to come; `null`: the key comes next. */
interface OpenNode {
  path: PropertyKey[]
  key: number | string | null
  isList: boolean
}

/** Where the value of every path begins; that of a key where the key does. */
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

/** `null`: not a node. */
function startOf(event: Event): number | null {
  if (event.type === EVENT_ID.SCALAR) return event.valueStart
  return event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING ? event.start : null
}
