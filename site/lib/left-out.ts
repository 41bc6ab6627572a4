import { FAILSAFE_SCHEMA, load } from 'js-yaml'
import { type Address, formatAddress } from '#core/address.ts'
import type { BrowsePage } from '#core/contract/browse.ts'
import { FRONT_MATTER_BYTES, YAML_DEPTH } from '#core/limits.ts'
import { isInside, joinPath, MANIFEST_FILE, parentOf, type RepoPath } from '#core/repo-path.ts'
import type { ApiClient } from './api-client.ts'

/** The patterns of a manifest, in its order. */
export interface LeftOut {
  /** The manifest. */
  path: RepoPath
  patterns: LeftOutPattern[]
}

export interface LeftOutPattern {
  /** As written, without the `!` of an exception. */
  text: string
  /** What an earlier pattern leaves out stays. */
  isException: boolean
  /** Of the file, from 1. */
  line: number
}

/** The front matter of a manifest fits into this part of its text. */
const READ_CHARACTERS = String(FRONT_MATTER_BYTES + 1_024)

/**
 * What the manifest of a folder leaves out, whether anything in the folder matches or not.
 *
 * @param page the page of the folder. Only the one that lists the manifest has its patterns
 * @returns `null` where the address serves no manifest of this folder, or the manifest has no patterns
 */
export async function loadLeftOut(client: ApiClient, address: Address, { path, entries }: BrowsePage): Promise<LeftOut | null> {
  const manifest = joinPath(path as RepoPath, MANIFEST_FILE)
  if (!entries.some(entry => entry.path === manifest && entry.delivered !== false)) return null
  return await readLeftOut(client, address, manifest)
}

/** What the nearest manifest above a folder leaves out that the address serves; `null` where none leaves out anything. */
export async function nearestLeftOut(client: ApiClient, address: Address, folder: RepoPath): Promise<LeftOut | null> {
  let at = folder
  for (let turn = 0; turn < FOLDERS_TRIED && isInside(address.path, at); turn++) {
    const leftOut = await readLeftOut(client, address, joinPath(at, MANIFEST_FILE))
    if (leftOut !== null || at === address.path) return leftOut
    at = parentOf(at)
  }
  return null
}

const FOLDERS_TRIED = 8

async function readLeftOut(client: ApiClient, address: Address, manifest: RepoPath): Promise<LeftOut | null> {
  const result = await client.get('files', formatAddress(address), { path: manifest, limit: READ_CHARACTERS })
  const patterns = result.ok ? readPatterns(result.answer.content) : []
  return patterns.length === 0 ? null : { path: manifest, patterns }
}

const BLOCK = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?\n)?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/

/** The patterns of a manifest that mean something, with their lines. What is no list of patterns gives none. */
export function readPatterns(text: string): LeftOutPattern[] {
  const block = BLOCK.exec(text)?.[1] ?? ''
  const lines = block.split('\n')
  const start = lines.findIndex(line => /^(?:exclude|"exclude"|'exclude')[ \t]*:/.test(line))
  const declared = start < 0 ? null : listOf(block)
  if (declared === null) return []
  // Patterns follow the key in their order; one that no line spells is escaped or folded, and counts as on the line before.
  let at = start
  let from = lines[start]?.indexOf(':') ?? 0
  return declared.flatMap(pattern => {
    const found = findFrom(lines, pattern, at, from)
    if (found !== null) [at, from] = [found.line, found.end]
    const isException = pattern.startsWith('!')
    const shown = isException ? pattern.slice(1) : pattern
    return shown.trim() === '' || pattern.startsWith('#') ? [] : [{ text: shown, isException, line: at + FIRST_LINE }]
  })
}

/** The line after the opening fence. */
const FIRST_LINE = 2

function findFrom(lines: readonly string[], text: string, line: number, from: number): { line: number; end: number } | null {
  for (let at = line; at < lines.length; at++) {
    const found = (lines[at] ?? '').indexOf(text, at === line ? from : 0)
    if (found >= 0) return { line: at, end: found + text.length }
  }
  return null
}

function listOf(yaml: string): string[] | null {
  try {
    const value = load(yaml, { schema: FAILSAFE_SCHEMA, maxDepth: YAML_DEPTH, maxAliases: 0 }) as Record<string, unknown> | null
    const declared = value?.['exclude']
    return Array.isArray(declared) && declared.every(one => typeof one === 'string') ? declared : null
  } catch {
    return null
  }
}
