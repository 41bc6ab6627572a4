import { groupAlike, TOLD_KINDS } from '#core/change-groups.ts'
import { listOf } from '#core/change-words.ts'
import type { ChangeItem } from '#core/contract/changes.ts'
import { printable } from '#core/hidden-text.ts'
import { t } from '#words/t.ts'
import type { Compared, NewError } from './difference.ts'
import { countOf, countsOf, notComparedLine, pointsOf, type SharedFact, SIGNS, tokensOf, whatOf } from './difference-words.ts'
import type { FailOn } from './fail-on.ts'
import { fold, type Paint, type Style } from './fold.ts'

export interface DifferenceOptions {
  paint: Paint
  /** Columns of the terminal. */
  width: number
  /** Print every list in full. */
  all: boolean
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

function heading({ from, to, path }: Compared, { paint }: DifferenceOptions): string[] {
  const place = path === '' ? t('check.wholeRepository') : t('check.oneFolder', { folder: printable(path) })
  const until = to.commit === null ? t('diff.workingFolder') : to.commit.slice(0, 12)
  return [
    paint('bold', t('diff.title', { place })),
    paint('dim', t('diff.range', { ref: printable(from.ref), commit: from.commit.slice(0, 12), until })),
  ]
}

function facts(compared: Compared, options: DifferenceOptions): string[] {
  const { paint, width } = options
  const lines = (fact: SharedFact) => [
    ...fold([{ text: `! ${fact.text}`, style: 'yellow' }], { paint, width, indent: 2 }),
    ...(fact.items.length === 0 ? [] : fold([{ text: namesOf(fact.items, options) }], { paint, width, indent: 6 })),
  ]
  return list(t('diff.lookAt'), pointsOf(compared).map(lines), options)
}

function block({ items, errors }: Compared, kind: ChangeItem['kind'], options: DifferenceOptions): string[] {
  const groups = groupAlike(items.filter(item => item.kind === kind))
  return list(
    t(`diff.kinds.${kind}`),
    groups.map(group => groupLines(group, errors, options)),
    options,
  )
}

/** @param entries each in its lines */
function list(title: string, entries: readonly string[][], { paint, all }: DifferenceOptions): string[] {
  if (entries.length === 0) return []
  const shown = all ? entries : entries.slice(0, SHOWN)
  const left = entries.length - shown.length
  const more = left === 0 ? [] : [paint('dim', `  ${t('check.more', { n: left })}`)]
  return [paint('bold', title), ...shown.flat(), ...more]
}

/** @param group items that differ alike, or one item */
function groupLines(group: readonly ChangeItem[], errors: readonly NewError[], options: DifferenceOptions): string[] {
  const { paint, width, all } = options
  const [item] = group as readonly [ChangeItem]
  const tokens = tokensOf(group)
  const what = `${whatOf(item, errors, all)}${tokens === '' ? '' : `; ${tokens}`}`
  const isOne = group.length === 1
  return [
    `  ${paint(STYLES[item.change], SIGNS[item.change])} ${paint('bold', isOne ? printable(item.path) : countOf(group))}`,
    ...fold([{ text: what }], { paint, width, indent: 6 }),
    ...(isOne
      ? []
      : fold(
          [
            {
              text: namesOf(
                group.map(({ path }) => path),
                options,
              ),
              style: 'dim',
            },
          ],
          { paint, width, indent: 6 },
        )),
  ]
}

function namesOf(paths: readonly string[], { all }: DifferenceOptions): string {
  return listOf(paths.map(printable), all)
}

function summary(compared: Compared, { paint, failures }: DifferenceOptions): string[] {
  const { errors } = compared
  const notCompared = notComparedLine(compared)
  return [
    paint('bold', countsOf(compared)),
    ...(notCompared === null ? [] : [paint('yellow', `! ${notCompared}`)]),
    ...(errors.length === 0 ? [] : [paint('red', `✗ ${t('counts.newError', { n: errors.length })}`)]),
    ...(compared.truncated ? [paint('yellow', `! ${t('diff.truncated')}`)] : []),
    ...(failures.length === 0 ? [] : [paint('red', `✗ ${t('diff.failedOn', { kinds: failures.join(', ') })}`)]),
  ]
}
