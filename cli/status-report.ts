import type { NamedStatus, RepositoryStatus, StatusReport } from '#api/reading/status.ts'
import { printable } from '#core/hidden-text.ts'
import { columnWidth, type Paint, padded } from '#indexer/check/fold.ts'
import { tablePage } from '#infra/monitoring/table-page.ts'
import { formatNumber, t } from '#words/t.ts'

/* What `mountglass status` prints, and its page on the metrics port. */

export function toReport({
  repositories,
  isComplete,
}: {
  repositories: readonly NamedStatus[]
  isComplete: boolean
}): StatusReport {
  return { format: 1, repositories: repositories.map(({ status }) => status), truncated: !isComplete }
}

/**
 * For people: a line for each repository, those to look at last, and the sum.
 *
 * @param reasons why a local repository could not be read, by its name
 */
export function statusLines(
  { repositories, truncated }: StatusReport,
  paint: Paint,
  reasons: ReadonlyMap<string, string> = new Map(),
): string[] {
  if (repositories.length === 0) return [t('status.none')]
  const sorted = inOrder(repositories)
  const rows = sorted.map(one => [
    printable(one.repository),
    t(`status.states.${one.state}`),
    one.commit?.slice(0, 7) ?? '',
    aboutOf(one, reasons),
  ])
  const widths = [0, 1, 2].map(column => columnWidth(rows.map(row => row[column] ?? '')))
  const lines = rows.map((row, index) => {
    const [place = '', state = '', commit = '', about = ''] = row.map((cell, column) => padded(cell, widths[column] ?? 0))
    const isBad = BAD.has((sorted[index] as RepositoryStatus).state)
    return `${place}  ${isBad ? paint('red', state) : state}  ${paint('dim', commit)}  ${about}`.trimEnd()
  })
  return [...lines, '', sumOf(repositories), ...(truncated ? [t('status.truncated')] : [])]
}

const STATES = ['ready', 'indexing', 'stale', 'not_indexed', 'empty', 'damaged', 'failed'] as const
const BAD: ReadonlySet<RepositoryStatus['state']> = new Set(['damaged', 'failed'])

function inOrder(repositories: readonly RepositoryStatus[]): RepositoryStatus[] {
  return STATES.flatMap(state => repositories.filter(one => one.state === state))
}

/** The numbers, or why there are none. */
function aboutOf(status: RepositoryStatus, reasons: ReadonlyMap<string, string>): string {
  const { skills, withheld, findings } = status
  const cause = causeOf(status, BAD.has(status.state) ? reasons.get(status.repository) : undefined)
  if (skills === null) return cause
  const parts = [...(cause === '' ? [] : [cause]), t('counts.skill', { n: skills })]
  if (withheld) parts.push(t('status.withheld', { n: formatNumber(withheld) }))
  if (findings) parts.push(t('counts.finding', { n: findings }))
  return parts.join(', ')
}

function sumOf(repositories: readonly Pick<RepositoryStatus, 'state'>[]): string {
  const counted = STATES.map(state => ({ state, n: repositories.filter(one => one.state === state).length }))
  const parts = counted.filter(({ n }) => n > 0).map(({ state, n }) => `${formatNumber(n)} ${t(`status.states.${state}`)}`)
  return t('status.sum', { repositories: t('counts.repository', { n: repositories.length }), parts: parts.join(', ') })
}

/**
 * The page: those to look at first. Private repositories are counted, and not named.
 *
 * @param baseUrl of the service that shows the repositories
 */
export function statusPage(
  { repositories, isComplete }: { repositories: readonly NamedStatus[]; isComplete: boolean },
  baseUrl: string,
): string {
  const named = repositories.filter(({ isPrivate }) => !isPrivate).map(({ status }) => status)
  const hidden = repositories.filter(({ isPrivate }) => isPrivate).map(({ status }) => status)
  const byNeed = Map.groupBy(inOrder(named), ({ state }) => BAD.has(state))
  const rows = [...(byNeed.get(true) ?? []), ...(byNeed.get(false) ?? [])].map(one => ({
    name: one.repository,
    href: `${baseUrl}/${encodeURI(one.repository)}`,
    cells: [t(`status.states.${one.state}`), one.commit?.slice(0, 7) ?? '', ...numbersOf(one), causeOf(one)],
    isBad: BAD.has(one.state),
  }))
  const notes = [
    sumOf(repositories.map(({ status }) => status)),
    ...(hidden.length > 0 ? [t('status.private', { states: sumOf(hidden) })] : []),
    ...(isComplete ? [] : [t('status.truncated')]),
  ]
  const head = COLUMNS.map(column => t(`status.columns.${column}`))
  return tablePage({ title: t('status.title'), notes, head, rows })
}

const COLUMNS = ['repository', 'state', 'commit', 'skills', 'withheld', 'findings', 'cause'] as const

function numbersOf({ skills, withheld, findings }: RepositoryStatus): string[] {
  return [skills, withheld, findings].map(number => (number === null ? '' : formatNumber(number)))
}

/** @param reason what was found out about this repository, in place of what its code means */
function causeOf({ repository, cause, commit, indexed }: RepositoryStatus, reason?: string): string {
  if (cause === undefined) return ''
  const [before = '', now = ''] = [indexed, commit].map(sha => sha?.slice(0, 7))
  // Nothing is fetched from the folders of the operator.
  const ofLocal = repository.startsWith('local/') ? t.find(`status.causes.${cause}:local`) : undefined
  const meaning = ofLocal ?? t.find(`status.causes.${cause}`, { before, now }) ?? cause
  return t('status.cause', { why: reason ? printable(reason) : meaning, code: cause })
}
