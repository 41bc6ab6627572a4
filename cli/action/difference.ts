import { z } from 'zod'
import { byKind, groupAlike } from '#core/change-groups.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import type { ChangeItem } from '#core/contract/changes.ts'
import { printable } from '#core/hidden-text.ts'
import { INDEX_WALL_SECONDS, TREE_ENTRIES } from '#core/limits.ts'
import { ROOT } from '#core/repo-path.ts'
import { type Compared, compareRead, readSide } from '#indexer/check/difference.ts'
import { countOf, countsOf, notComparedLine, pointsOf, SIGNS, tokensOf, whatOf } from '#indexer/check/difference-words.ts'
import { findBase, findForkPoint, openCommit } from '#infra/worktree/commit.ts'
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

/** How much of long lists a summary has below what it shows at once. The rest is counted. */
interface Room {
  rows: number
  paths: number
}

/** Rows of a table, and paths of a cell, that are shown without a click. */
const SHOWN: Room = { rows: 100, paths: 20 }
const ROOMS: readonly Room[] = [
  { rows: Number.POSITIVE_INFINITY, paths: Number.POSITIVE_INFINITY },
  { rows: 1_000, paths: 200 },
]
/** GitHub takes a summary of a mebibyte, or none of it. */
const SUMMARY_BYTES = 1_000_000

/** The summary of the run, in Markdown. Long lists open on a click. What would exceed `SUMMARY_BYTES` is counted. */
export function differenceSummary(compared: Compared, failures: readonly string[]): string {
  const fitting = ROOMS.map(room => summaryIn(room, compared, failures)).find(text => Buffer.byteLength(text) <= SUMMARY_BYTES)
  return fitting ?? summaryIn({ rows: 0, paths: 0 }, compared, failures)
}

function summaryIn(room: Room, compared: Compared, failures: readonly string[]): string {
  const { from, to, errors, truncated } = compared
  const items = byKind(compared.items)
  const notCompared = notComparedLine(compared)
  const lines = [
    '### What agents read differently',
    '',
    `From ${code(printable(from.ref))} (${code(from.commit.slice(0, 12))}) to ${code(to.commit?.slice(0, 12) ?? '')}: ${countsOf(compared)}.`,
    ...(notCompared === null ? [] : ['', `${capitalized(notCompared)}.`]),
    ...(truncated ? ['', 'A limit was reached: part of the repository is not compared.'] : []),
    ...(failures.length === 0 ? [] : ['', `**Failed on: ${failures.join(', ')}.**`]),
    ...table(
      ['', 'Look at', 'In'],
      pointsOf({ items, errors }).map(point => ['!', escapeHtml(point.text), pathsCell(point.items, room)]),
      room,
    ),
    ...table(
      ['', 'What', 'Change', 'Tokens'],
      groupAlike(items).map(group => {
        const [item] = group as [ChangeItem, ...ChangeItem[]]
        const paths = pathsCell(
          group.map(({ path }) => path),
          room,
        )
        const what = group.length === 1 ? paths : details(countOf(group), paths)
        return [SIGNS[item.change], what, `${kindOf(item)}${changeCell(item, errors, room)}`, tokensOf(group)]
      }),
      room,
    ),
  ]
  return `${lines.join('\n')}\n`
}

function capitalized(line: string): string {
  return line.charAt(0).toUpperCase() + line.slice(1)
}

function pathsCell(paths: readonly string[], room: Room): string {
  const shown = paths.slice(0, SHOWN.paths).map(pathCode)
  const opened = paths.slice(SHOWN.paths, SHOWN.paths + room.paths).map(pathCode)
  const left = paths.length - shown.length - opened.length
  if (opened.length === 0) return [...shown, ...counted(left)].join('<br>')
  return [...shown, details(`and ${paths.length - shown.length} more`, [...opened, ...counted(left)].join('<br>'))].join('<br>')
}

function pathCode(path: string): string {
  return code(printable(path))
}

/** What changed; where files behind it are only counted, a click names them. */
function changeCell(item: ChangeItem, errors: Compared['errors'], room: Room): string {
  const short = escapeHtml(whatOf(item, errors))
  const hasRoom = !('causes' in item) || item.causes.length <= room.paths
  const whole = hasRoom ? escapeHtml(whatOf(item, errors, true)) : short
  return short === whole ? short : details(short, whole)
}

function kindOf({ kind }: ChangeItem): string {
  return kind === 'skill' ? '' : `${kind}: `
}

function table(heads: readonly string[], rows: readonly (readonly string[])[], room: Room): string[] {
  const shown = rows.slice(0, SHOWN.rows)
  const opened = rows.slice(SHOWN.rows, SHOWN.rows + room.rows)
  const left = counted(rows.length - shown.length - opened.length).flatMap(text => ['', text])
  if (opened.length === 0) return [...rowsUnder(heads, shown), ...left]
  const summary = `<details><summary>And ${rows.length - shown.length} more</summary>`
  return [...rowsUnder(heads, shown), '', summary, ...rowsUnder(heads, opened), ...left, '', '</details>']
}

function rowsUnder(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return []
  const lines = rows.map(cells => `| ${cells.join(' | ')} |`)
  return ['', `| ${heads.join(' | ')} |`, `|${heads.map(() => '---|').join('')}`, ...lines]
}

function counted(left: number): string[] {
  return left === 0 ? [] : [`and ${left} more, which <code>mountglass diff --all</code> prints`]
}

function details(summary: string, content: string): string {
  return `<details><summary>${summary}</summary>${content}</details>`
}
