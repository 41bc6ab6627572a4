import { groupAlike, TOLD_KINDS } from '#core/change-groups.ts'
import { listOf } from '#core/change-words.ts'
import type { ChangeItem } from '#core/contract/changes.ts'
import { printable } from '#core/hidden-text.ts'
import { formatNumber, t } from '#words/t.ts'
import type { Compared, NewError } from './difference.ts'
import { countOf, countsOf, notComparedLine, pointsOf, type SharedFact, SIGNS, tokensOf, whatOf } from './difference-words.ts'
import type { FailOn } from './fail-on.ts'
import { type Entry, entryLines, fold, type Paint, type Span, type Style, signedLines } from './fold.ts'

export interface DifferenceOptions {
  paint: Paint
  /** Columns of the terminal. */
  width: number
  /** Print every list in full. */
  all: boolean
  /** The URL of a file of the working folder; `null` where the terminal has no links. */
  linkTo(path: string): string | null
  /** The kinds of differences on which the caller fails. */
  failures: readonly FailOn[]
}

const STYLES = { added: 'green', removed: 'red', changed: 'yellow', moved: 'cyan' } as const satisfies Record<string, Style>
/** Entries of a list that are printed without `--all`. */
const SHOWN = 40

/** The difference for people: what to look at, then skills, documents and manifests. */
export function formatDifference(compared: Compared, options: DifferenceOptions): string {
  const blocks = [heading(compared, options), facts(compared, options), ...TOLD_KINDS.map(kind => block(compared, kind, options))]
  const lines = blocks.filter(one => one.length > 0).map(one => one.join('\n'))
  return `${[...lines, summary(compared, options).join('\n')].join('\n\n')}\n`
}

function heading({ from, to, path }: Compared, options: DifferenceOptions): string[] {
  const place = path === '' ? t('check.wholeRepository') : t('check.oneFolder', { folder: printable(path) })
  const until = to.commit === null ? t('diff.workingFolder') : to.commit.slice(0, 12)
  return [
    ...sentence({ text: t('diff.title', { place }), style: 'bold' }, options),
    ...sentence(
      { text: t('diff.range', { ref: printable(from.ref), commit: from.commit.slice(0, 12), until }), style: 'dim' },
      options,
    ),
  ]
}

function sentence(span: Span, { paint, width }: DifferenceOptions): string[] {
  return fold([span], { paint, width, indent: 0 })
}

function facts(compared: Compared, options: DifferenceOptions): string[] {
  const lines = ({ text, items }: SharedFact) => [
    ...signedLines({ text: '!', style: 'yellow' }, [{ text, style: 'yellow' }], options),
    ...(items.length === 0 ? [] : fold([{ text: namesOf(items, options) }], { ...options, indent: 6 })),
  ]
  const { shown, left } = cutList(pointsOf(compared), options)
  return listLines(t('diff.lookAt'), shown.flatMap(lines), left, options)
}

function block({ items, errors }: Compared, kind: ChangeItem['kind'], options: DifferenceOptions): string[] {
  const { shown, left } = cutList(groupAlike(items.filter(item => item.kind === kind)), options)
  const entries = shown.map(group => entryOf(group, errors, options))
  return listLines(t(`diff.kinds.${kind}`), entryLines(entries, options), left, options)
}

function cutList<Item>(items: readonly Item[], { all }: DifferenceOptions): { shown: readonly Item[]; left: number } {
  const shown = all ? items : items.slice(0, SHOWN)
  return { shown, left: items.length - shown.length }
}

/** @param left how many entries are not shown */
function listLines(title: string, lines: readonly string[], left: number, { paint }: DifferenceOptions): string[] {
  if (lines.length === 0) return []
  return [
    paint('bold', title),
    ...lines,
    ...(left === 0 ? [] : [paint('dim', `  ${t('check.more', { n: formatNumber(left) })}`)]),
  ]
}

/** @param group items that differ alike, or one item */
function entryOf(group: readonly ChangeItem[], errors: readonly NewError[], options: DifferenceOptions): Entry {
  const [item] = group as readonly [ChangeItem]
  const tokens = tokensOf(group)
  const sign = { text: SIGNS[item.change], style: STYLES[item.change] }
  const said = [{ text: `${whatOf(item, errors, options.all)}${tokens === '' ? '' : `; ${tokens}`}` }]
  if (group.length > 1) {
    const paths = group.map(({ path }) => path)
    return {
      sign,
      place: { text: countOf(group), style: 'bold' },
      said,
      below: [{ text: namesOf(paths, options), style: 'dim' }],
    }
  }
  const link = item.change === 'removed' ? null : options.linkTo(item.path)
  return { sign, place: { text: printable(item.path), style: 'bold', ...(link !== null && { link }) }, said }
}

function namesOf(paths: readonly string[], { all }: DifferenceOptions): string {
  return listOf(paths.map(printable), all)
}

function summary(compared: Compared, options: DifferenceOptions): string[] {
  const { errors, truncated } = compared
  const { failures } = options
  const notCompared = notComparedLine(compared)
  const lines: Span[] = [
    { text: countsOf(compared), style: 'bold' },
    ...(notCompared === null ? [] : [{ text: `! ${notCompared}`, style: 'yellow' as const }]),
    ...(errors.length === 0 ? [] : [{ text: `✗ ${t('counts.newError', { n: errors.length })}`, style: 'red' as const }]),
    ...(truncated ? [{ text: `! ${t('diff.truncated')}`, style: 'yellow' as const }] : []),
    ...(failures.length === 0
      ? []
      : [{ text: `✗ ${t('diff.failedOn', { kinds: failures.join(', ') })}`, style: 'red' as const }]),
  ]
  return lines.flatMap(line => sentence(line, options))
}
