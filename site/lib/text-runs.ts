import type MarkdownIt from 'markdown-it'

type Token = ReturnType<InstanceType<typeof MarkdownIt>['parse']>[number]

/** Below as many blocks a browser lays out all of a text at once. */
const BLOCKS_TALL = 400
/** Blocks that are laid out together. */
const BLOCKS_PER_RUN = 25
/** Characters of a line on a wide screen, and what a block takes besides its lines. */
const LINE_CHARACTERS = 72
const BLOCK_LINES = 0.7
/** Classes `r0` to `r7`: the height of a run as a power, see `skill.css`. */
const STEPS = { first: 16, ratio: 1.6, most: 7 }

/**
 * Renders blocks. In a text of very many, those that lie far from the view are laid out later: they stand in runs, whose classes say about how
 * high they are.
 */
export function renderRuns(tokens: readonly Token[], render: (tokens: Token[]) => string): string {
  const starts = [...tokens.keys()].filter(index => tokens[index]?.level === 0 && (tokens[index]?.nesting ?? 0) >= 0)
  if (starts.length < BLOCKS_TALL) return render([...tokens])
  let html = ''
  for (let at = 0; at < starts.length; at += BLOCKS_PER_RUN) {
    const run = tokens.slice(at === 0 ? 0 : starts[at], starts[at + BLOCKS_PER_RUN])
    html += `<div class="run r${stepOf(linesOf(run))}">${render(run)}</div>\n`
  }
  return html
}

/** About how many lines the blocks take. */
function linesOf(tokens: readonly Token[]): number {
  return tokens.reduce((sum, { type, content, level, nesting }) => {
    const isCode = type === 'fence' || type === 'code_block'
    const lines = isCode ? content.split('\n').length + 1 : type === 'inline' ? Math.ceil(content.length / LINE_CHARACTERS) : 0
    return sum + lines + (level === 0 && nesting >= 0 ? BLOCK_LINES : 0)
  }, 0)
}

function stepOf(lines: number): number {
  const step = Math.round(Math.log(Math.max(lines, 1) / STEPS.first) / Math.log(STEPS.ratio))
  return Math.min(STEPS.most, Math.max(0, step))
}
