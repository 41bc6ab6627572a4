import type { ChangeItem } from '#core/contract/changes.ts'
import { printable } from '#core/hidden-text.ts'
import { fill, type Speech } from '#core/words/speech.ts'
import type { Compared } from './difference.ts'
import { countsOf, factLines, SIGNS, tokensOf, whatOf } from './difference-words.ts'
import type { FailOn } from './fail-on.ts'
import { fold, type Paint, type Style } from './fold.ts'

export interface DifferenceOptions {
  paint: Paint
  speech: Speech
  /** Columns of the terminal. */
  width: number
  /** Print every list in full. */
  all: boolean
  /** The kinds of differences on which the caller fails. */
  failures: readonly FailOn[]
}

const STYLES = { added: 'green', removed: 'red', changed: 'yellow', moved: 'cyan' } as const satisfies Record<string, Style>
const KINDS = ['manifest', 'skill', 'document'] as const
/** Items of a kind that are printed without `--all`. */
const SHOWN = 40

/** The difference for people: manifests, which change many skills, then skills, then documents. */
export function formatDifference(compared: Compared, options: DifferenceOptions): string {
  const blocks = [heading(compared, options), ...KINDS.map(kind => block(compared, kind, options))]
  const lines = blocks.filter(one => one.length > 0).map(one => one.join('\n'))
  return `${[...lines, summary(compared, options).join('\n')].join('\n\n')}\n`
}

function heading({ from, to, path }: Compared, { paint, speech }: DifferenceOptions): string[] {
  const { check, diff } = speech.words
  const place = path === '' ? check.wholeRepository : fill(check.oneFolder, { folder: printable(path) })
  const until = to.commit === null ? diff.workingFolder : to.commit.slice(0, 12)
  return [
    paint('bold', fill(diff.title, { place })),
    paint('dim', fill(diff.range, { ref: printable(from.ref), commit: from.commit.slice(0, 12), until })),
  ]
}

function block({ items }: Compared, kind: ChangeItem['kind'], options: DifferenceOptions): string[] {
  const { paint, speech } = options
  const { check, diff } = speech.words
  const found = items.filter(item => item.kind === kind)
  if (found.length === 0) return []
  const shown = options.all ? found : found.slice(0, SHOWN)
  const left = found.length - shown.length
  const more = left === 0 ? [] : [paint('dim', `  ${fill(check.more, { n: left })}`)]
  return [paint('bold', diff.kinds[kind]), ...shown.flatMap(item => itemLines(item, options)), ...more]
}

function itemLines(item: ChangeItem, { paint, width, speech }: DifferenceOptions): string[] {
  const tokens = tokensOf(item, speech)
  const what = `${whatOf(item, speech)}${tokens === '' ? '' : `; ${tokens}`}`
  const facts = item.kind === 'manifest' ? [] : factLines(item.facts, speech)
  return [
    `  ${paint(STYLES[item.change], SIGNS[item.change])} ${paint('bold', printable(item.path))}`,
    ...fold([{ text: what }], { paint, width, indent: 6 }),
    ...facts.flatMap(fact => fold([{ text: `! ${fact}`, style: 'yellow' }], { paint, width, indent: 6 })),
  ]
}

function summary(compared: Compared, { paint, failures, speech }: DifferenceOptions): string[] {
  const say = speech.words.diff
  return [
    paint('bold', countsOf(compared, speech)),
    ...(compared.truncated ? [paint('yellow', `! ${say.truncated}`)] : []),
    ...(failures.length === 0 ? [] : [paint('red', `✗ ${fill(say.failedOn, { kinds: failures.join(', ') })}`)]),
  ]
}
