import type { ChangeItem } from '#core/contract/changes.ts'
import { printable } from '#core/hidden-text.ts'
import type { Compared } from './difference.ts'
import { countsOf, factLines, SIGNS, tokensOf, whatOf } from './difference-words.ts'
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
const KINDS = [
  ['manifest', 'Rules of folders'],
  ['skill', 'Skills'],
  ['document', 'Documents'],
] as const
/** Items of a kind that are printed without `--all`. */
const SHOWN = 40

/** The difference for people: manifests, which change many skills, then skills, then documents. */
export function formatDifference(compared: Compared, options: DifferenceOptions): string {
  const blocks = [heading(compared, options), ...KINDS.map(([kind, title]) => block(compared, kind, title, options))]
  const lines = blocks.filter(one => one.length > 0).map(one => one.join('\n'))
  return `${[...lines, summary(compared, options).join('\n')].join('\n\n')}\n`
}

function heading({ from, to, path }: Compared, { paint }: DifferenceOptions): string[] {
  const place = path === '' ? 'the whole repository' : `the folder ${printable(path)}, with the rules above it`
  const until = to.commit === null ? 'the files of the working folder' : to.commit.slice(0, 12)
  return [
    paint('bold', `What agents read differently in ${place}`),
    paint('dim', `from ${printable(from.ref)} (${from.commit.slice(0, 12)}) to ${until}`),
  ]
}

function block({ items }: Compared, kind: ChangeItem['kind'], title: string, options: DifferenceOptions): string[] {
  const found = items.filter(item => item.kind === kind)
  if (found.length === 0) return []
  const shown = options.all ? found : found.slice(0, SHOWN)
  const left = found.length - shown.length
  const more = left === 0 ? [] : [options.paint('dim', `  … and ${left} more; --all shows them`)]
  return [options.paint('bold', title), ...shown.flatMap(item => itemLines(item, options)), ...more]
}

function itemLines(item: ChangeItem, { paint, width }: DifferenceOptions): string[] {
  const tokens = tokensOf(item)
  const what = `${whatOf(item)}${tokens === '' ? '' : `; ${tokens}`}`
  const facts = item.kind === 'manifest' ? [] : factLines(item.facts)
  return [
    `  ${paint(STYLES[item.change], SIGNS[item.change])} ${paint('bold', printable(item.path))}`,
    ...fold([{ text: what }], { paint, width, indent: 6 }),
    ...facts.flatMap(fact => fold([{ text: `! ${fact}`, style: 'yellow' }], { paint, width, indent: 6 })),
  ]
}

function summary(compared: Compared, { paint, failures }: DifferenceOptions): string[] {
  return [
    paint('bold', countsOf(compared)),
    ...(compared.truncated ? [paint('yellow', '! a limit was reached: part of the repository is not compared')] : []),
    ...(failures.length === 0 ? [] : [paint('red', `✗ failed on: ${failures.join(', ')}`)]),
  ]
}
