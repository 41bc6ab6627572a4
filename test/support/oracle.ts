import { execFileSync } from 'node:child_process'
import { posix } from 'node:path'
import { FAILSAFE_SCHEMA, load } from 'js-yaml'

/** What an agent has to receive of one skill, in the order of the contract. */
export interface ExpectedContext {
  rules: { path: string; text: string }[]
  body: string
  includes: { path: string; text: string }[]
}

/**
 * A second, straightforward reading of the rules, from git's plumbing alone and without a line of the indexer:
 * manifest bodies from the root to the nearest folder, the body of the skill, then what manifests and skill include, each file once.
 * For skills that are delivered in full.
 */
export function expectedContext(gitDir: string, commit: string, skillPath: string): ExpectedContext {
  const read = (path: string): string | null => {
    try {
      return execFileSync('git', [`--git-dir=${gitDir}`, 'cat-file', 'blob', `${commit}:${path}`], {
        stdio: ['ignore', 'pipe', 'ignore'],
      }).toString('utf8')
    } catch {
      return null
    }
  }
  const rules: ExpectedContext['rules'] = []
  const includes = new Map<string, string>()
  const include = (folder: string, declared: unknown) => {
    for (const item of typeof declared === 'string' ? declared.trim().split(/\s+/) : Array.isArray(declared) ? declared : []) {
      const path = String(item).startsWith('/') ? posix.normalize(String(item).slice(1)) : posix.join(folder, String(item))
      const text = read(path)
      if (text !== null && !includes.has(path)) includes.set(path, text)
    }
  }

  const directory = posix.dirname(skillPath) === '.' ? '' : posix.dirname(skillPath)
  const folders =
    directory === '' ? [''] : ['', ...directory.split('/').map((_, index, segments) => segments.slice(0, index + 1).join('/'))]
  for (const folder of folders) {
    const path = posix.join(folder, 'SKILLSET.md')
    const parts = splitParts(read(path) ?? '')
    if (parts.fields === null) continue
    const lines = parts.body.split('\n')
    while (lines.length > 0 && lines[0]?.trim() === '') lines.shift()
    while (lines.length > 0 && lines.at(-1)?.trim() === '') lines.pop()
    if (lines.length > 0) rules.push({ path, text: lines.join('\n').replace(/\r$/, '') })
    include(folder, parts.fields.include)
  }
  const skill = splitParts(read(skillPath) ?? '')
  include(directory, skill.fields?.include ?? (skill.fields?.metadata as Record<string, unknown> | undefined)?.include)
  return { rules, body: skill.body, includes: [...includes].map(([path, text]) => ({ path, text })) }
}

function splitParts(file: string): { fields: Record<string, unknown> | null; body: string } {
  const text = file.replace(/^\uFEFF/, '')
  const match = /^---\r?\n([\s\S]*?)(?:^|\n)(?:---|\.\.\.)(?:\r?\n|$)/.exec(text)
  if (!match) return { fields: null, body: text }
  try {
    return {
      fields: (load(match[1] ?? '', { schema: FAILSAFE_SCHEMA }) ?? {}) as Record<string, unknown>,
      body: text.slice(match[0].length),
    }
  } catch {
    return { fields: {}, body: text.slice(match[0].length) }
  }
}
