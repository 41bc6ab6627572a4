import { z } from 'zod'
import { groupAlike } from '#core/change-groups.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import type { ChangeItem } from '#core/contract/changes.ts'
import { printable } from '#core/hidden-text.ts'
import { INDEX_WALL_SECONDS, TREE_ENTRIES } from '#core/limits.ts'
import { ROOT } from '#core/repo-path.ts'
import { findBase, findForkPoint } from '#infra/worktree/base.ts'
import { openCommit } from '#infra/worktree/commit.ts'
import { type Compared, compareRead, readSide } from '../check/difference.ts'
import { countOf, countsOf, notComparedLine, pointsOf, SIGNS, tokensOf, whatOf } from '../check/difference-words.ts'
import { requireClone } from './checkout.ts'
import { code, escapeHtml } from './outcome.ts'

/** The fields of a workflow's event that a comparison needs. */
const Event = z.object({
  pull_request: z.object({ base: z.object({ sha: z.string(), ref: z.string() }) }).optional(),
  /** Of a push: the commit that the branch had. */
  before: z.string().optional(),
  repository: z.object({ private: z.boolean() }).optional(),
})

const LIMITS = {
  treeEntries: TREE_ENTRIES,
  treeDepthSegments: Number.MAX_SAFE_INTEGER,
  seconds: INDEX_WALL_SECONDS,
}

/**
 * Compares the commit that is checked out with the base of the pull request, with the commit before the push, or with a ref. Both sides are
 * read from the objects of the clone. A private repository is compared as one.
 *
 * @param from a ref; empty: by the event
 * @throws Error when the clone lacks one of the commits
 */
export async function compareCheckout(folder: string, from: string, payload: unknown): Promise<Compared> {
  const event = Event.parse(payload)
  const gitDir = await requireClone(folder)
  const head = await findBase(gitDir, 'HEAD')
  const base = await baseOf(gitDir, from, event)
  const repository = { name: 'repository', visibility: event.repository?.private ? 'private' : 'public' } as const
  const read = async (commit: CommitSha) => {
    const reader = await openCommit(gitDir, commit, LIMITS)
    try {
      return await readSide(reader, repository, ROOT)
    } finally {
      await reader.close()
    }
  }
  const [before, after] = [await read(base.commit), await read(head.commit)]
  return await compareRead(before, after, { from: base, to: { commit: head.commit }, path: ROOT })
}

async function baseOf(gitDir: string, from: string, { pull_request, before }: z.infer<typeof Event>) {
  if (from !== '') return await findBase(gitDir, from)
  if (pull_request) {
    const { sha, ref } = pull_request.base
    return { ref, commit: await findForkPoint(gitDir, 'HEAD', sha) }
  }
  const isNewBranch = before === undefined || /^0+$/.test(before)
  return await findBase(gitDir, isNewBranch ? null : before)
}

/** Outputs of the step, as `action.yml` names them. */
export function differenceOutputs({ items }: Pick<Compared, 'items'>): Record<string, string> {
  return { changes: String(items.length) }
}

/** Rows of a table of the summary. */
const ROWS = 100

/** The summary of the run, in Markdown. */
export function differenceSummary(compared: Compared, failures: readonly string[]): string {
  const { from, to, items, errors, truncated } = compared
  const notCompared = notComparedLine(compared)
  const lines = [
    '### What agents read differently',
    '',
    `From ${code(printable(from.ref))} (${code(from.commit.slice(0, 12))}) to ${code(to.commit?.slice(0, 12) ?? '')}: ${countsOf(compared)}.`,
    ...(notCompared === null ? [] : ['', `${capitalized(notCompared)}.`]),
    ...(truncated ? ['', 'A limit was reached: part of the repository is not compared.'] : []),
    ...(failures.length === 0 ? [] : ['', `**Failed on: ${failures.join(', ')}.**`]),
    ...table(['', 'Look at', 'In'], pointsOf(compared), ({ text, items }) => ['!', escapeHtml(text), pathsCell(items)]),
    ...table(['', 'What', 'Change', 'Tokens'], groupAlike(items), group => {
      const [item] = group as [ChangeItem, ...ChangeItem[]]
      const paths = group.map(({ path }) => path)
      const what =
        group.length === 1 ? pathsCell(paths) : `<details><summary>${countOf(group)}</summary>${pathsCell(paths)}</details>`
      return [SIGNS[item.change], what, `${kindOf(item)}${escapeHtml(whatOf(item, errors))}`, tokensOf(group)]
    }),
  ]
  return `${lines.join('\n')}\n`
}

function capitalized(line: string): string {
  return line.charAt(0).toUpperCase() + line.slice(1)
}

/** Paths in a cell; more are counted. GitHub takes a summary of a mebibyte, or none of it. */
const PATHS = 20

function pathsCell(paths: readonly string[]): string {
  const more = paths.length > PATHS ? [`and ${paths.length - PATHS} more`] : []
  return [...paths.slice(0, PATHS).map(path => code(printable(path))), ...more].join('<br>')
}

function kindOf({ kind }: ChangeItem): string {
  return kind === 'skill' ? '' : `${kind}: `
}

function table<Row>(heads: readonly string[], rows: readonly Row[], cellsOf: (row: Row) => readonly string[]): string[] {
  if (rows.length === 0) return []
  const lines = rows.slice(0, ROWS).map(row => `| ${cellsOf(row).join(' | ')} |`)
  const more = rows.length > ROWS ? ['', `And ${rows.length - ROWS} more.`] : []
  return ['', `| ${heads.join(' | ')} |`, `|${heads.map(() => '---|').join('')}`, ...lines, ...more]
}
