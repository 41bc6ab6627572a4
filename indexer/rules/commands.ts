import { isMarkdown, isProse } from './content-kind.ts'

/* Commands that a reviewer looks at: what a text tells an agent to run. In linear time, as the text may be hostile and long. */

/** A command as written, without its prompt, and the line where it begins. */
export interface WrittenCommand {
  command: string
  line: number
  /** Where in it the first part begins that a reviewer looks at. */
  at: number
}

/** Where the commands of a file stand: in blocks and spans of code, or on any line; `null`: it has none. */
export type CodePlace = 'markup' | 'script' | null

/** @param isExecutable whether the file is executable */
export function codePlaceOf(path: string, text: string, isExecutable: boolean): CodePlace {
  if (isMarkdown(path)) return 'markup'
  if (isExecutable || /^\ufeff?#!/.test(text) || SCRIPT.test(path)) return 'script'
  return isProse(path) ? 'markup' : null
}

const SCRIPT =
  /\.(?:sh|bash|zsh|ksh|fish|ps1|psm1|bat|cmd|command|py|js|mjs|cjs|ts|mts|cts|rb|pl|php|lua)$|(?:^|\/)(?:makefile|dockerfile|justfile)$/i

/** The commands of a text, in order. */
export function* commandsIn(text: string, place: CodePlace): Generator<WrittenCommand> {
  if (place === null || !MAY_COMMAND.test(text)) return
  const pieces = place === 'script' ? joinLines(text.split('\n'), 1) : piecesOfMarkup(text)
  for (const piece of pieces) {
    if (!MAY_COMMAND.test(piece.code)) continue
    const found = commandOf(piece)
    // Not every language and not every backslash continues a line: a command may begin on any of them.
    if (found !== null) yield found
    else yield* linesOf(piece).flatMap(line => commandOf(line) ?? [])
  }
}

function commandOf({ code, line }: Code): WrittenCommand | null {
  const command = code.replace(PROMPT, '').trim()
  const at = commandAt(command)
  return at < 0 ? null : { command, line, at }
}

/** Most texts have none of these words. */
const MAY_COMMAND =
  /curl|wget|aria2c|iwr|irm|invoke-|downloadstring|npx|uvx|bunx|dlx|pip|npm|sudo|eval|chmod|base64|rm\s|ssh|scp/i
/** What stands before a command in a terminal, and the marks of a quotation. */
const PROMPT = /^[\s>]*(?:[$%❯]\s+|PS [^>]{0,200}>\s)?/
const SHELL_PROMPT = /^[\s>]*\$\s/

/** Code, and the line where it begins. */
interface Code {
  code: string
  line: number
}

/** A piece of code. `joined`: the lines that it is made of. */
interface Piece extends Code {
  joined: readonly Code[]
}

/** Lines of code, those joined that one command spans. Comments are left out. */
function* joinLines(written: readonly string[], first: number): Generator<Piece> {
  let joined: Code[] = []
  for (const [index, one] of written.entries()) {
    const code = withoutComment(one.trimEnd())
    const isComment = COMMENT.test(code)
    const isSkipped = isComment ? joined.length === 0 : code === ''
    // A shell skips comments and empty lines behind a pipe.
    if (!isSkipped && !(isComment && endsInSign(joined))) joined.push({ code, line: first + index })
    const continues = isComment || code === '' ? endsInSign(joined) : CONTINUES.test(code.slice(-2))
    if (joined.length === 0 || (continues && index < written.length - 1)) continue
    yield pieceOf(joined)
    joined = []
  }
}

/** A line that goes on behind a comment, without the comment. What only looks like one may have commands behind it. */
function withoutComment(code: string): string {
  if (!code.includes('#')) return code
  const without = code.replace(COMMENT_AFTER_SIGN, '$1')
  return without === code || (MAY_COMMAND.test(code) && commandAt(code) >= 0) ? code : without
}

function pieceOf(joined: readonly Code[]): Piece {
  return { code: joined.map(({ code }) => code).join('\n'), line: joined[0]?.line ?? 0, joined }
}

/** The lines of a piece, each by itself; none if there is only one. */
function linesOf({ joined }: Piece): Code[] {
  const lines = joined.flatMap(({ code, line }) => code.split(LINE_END).map(part => ({ code: part.replace(/\\$/, ''), line })))
  return lines.length > 1 ? lines.filter(({ code }) => MAY_COMMAND.test(code) && !COMMENT.test(code)) : []
}

function endsInSign(joined: readonly Code[]): boolean {
  return SIGN_AT_END.test(joined.at(-1)?.code.slice(-4) ?? '')
}

const CONTINUES = /[\\|]$|&&$/
/** Also where a backslash follows the sign. */
const SIGN_AT_END = /(?:\||&&)\s?\\?$/
/** A line that is a comment as a whole. Some languages end lines at other characters, too. */
const COMMENT = /^\s*#(?!!)[^\r\u2028\u2029]*$/
const COMMENT_AFTER_SIGN = /(\||&&)[ \t]+#[^\r\u2028\u2029]*/
const LINE_END = /[\r\u2028\u2029]/

/** Blocks of shells line by line, and spans of code. */
function* piecesOfMarkup(text: string): Generator<Piece> {
  let block: { fence: string; language: string; from: number } | null = null
  let lines: string[] = []
  const all = text.split('\n')
  for (const [index, written] of all.entries()) {
    const line = written.trimEnd()
    const [mark = '', fence = ''] = FENCE.exec(line) ?? []
    const rest = line.slice(mark.length)
    if (block !== null) {
      const ends = fence[0] === block.fence[0] && fence.length >= block.fence.length && rest === ''
      if (!ends) lines.push(line)
      if (!ends && index < all.length - 1) continue
      yield* commandLines(block.language, lines, block.from)
    } else if (fence === '' || (fence.startsWith('`') && rest.includes('`'))) {
      lines.push(line)
      if (line !== '' && index < all.length - 1) continue
      yield* spansIn(lines.join('\n'), index + 2 - lines.length)
    } else {
      yield* spansIn(lines.join('\n'), index + 1 - lines.length)
      lines = []
      block = { fence, language: LANGUAGE.exec(rest)?.[1]?.toLowerCase() ?? '', from: index + 2 }
      continue
    }
    lines = []
    block = null
  }
}

/** The opening or closing line of a block, in lists and quotations too. */
const FENCE = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(`{3,}|~{3,})/
const LANGUAGE = /^\s*\{?\.?([\w-]*)/
const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'shell', 'zsh', 'console', 'powershell'])

function* commandLines(language: string, lines: readonly string[], from: number): Generator<Piece> {
  if (language !== '' && !SHELLS.has(language)) return
  for (const piece of joinLines(lines, from)) if (language !== '' || SHELL_PROMPT.test(piece.code)) yield piece
}

/** The spans of code of a paragraph: from a run of backticks to the next of the same length. */
function* spansIn(paragraph: string, line: number): Generator<Piece> {
  const runs = runsIn(paragraph)
  let [counted, at] = [0, line]
  for (let number = 0; number < runs.length; number++) {
    const [opens, closes] = [runs[number], runs[runs[number]?.closedBy ?? -1]]
    if (opens === undefined || closes === undefined) continue
    for (; counted < opens.to; counted++) if (paragraph.charCodeAt(counted) === LINE_FEED) at++
    yield { code: paragraph.slice(opens.to, closes.from), line: at, joined: [] }
    number = opens.closedBy
  }
}

/** Backticks in a row, and the number of the next run of the same length; -1 if there is none. */
interface Run {
  from: number
  to: number
  closedBy: number
}

function runsIn(text: string): Run[] {
  const runs: Run[] = []
  const last = new Map<number, Run>()
  for (let from = text.indexOf('`'); from >= 0; ) {
    let to = from + 1
    while (text.charCodeAt(to) === BACKTICK) to++
    const before = last.get(to - from)
    if (before !== undefined) before.closedBy = runs.length
    const run = { from, to, closedBy: -1 }
    last.set(to - from, run)
    runs.push(run)
    from = text.indexOf('`', to)
  }
  return runs
}

const [LINE_FEED, BACKTICK] = [10, 96]

/** A part of a line between two signs of the shell: its words, and the last signs before it. */
interface Part {
  signs: string
  words: { text: string; at: number }[]
}

/** Where the first command begins that a reviewer looks at; -1 if the code has none. */
export function commandAt(code: string): number {
  let [download, interpreter] = [-1, -1]
  const parts = partsOf(code)
  for (const [index, { signs, words }] of parts.entries()) {
    const isPiped = PIPED.test(signs)
    const follows = parts[index + 1]?.signs ?? ''
    for (const [number, { text, at }] of words.entries()) {
      const name = nameOf(text)
      if (IGNORED.test(text)) continue
      if (RULES.get(name)?.(words.slice(number + 1), follows)) return at
      if (INTERPRETER.test(name)) {
        if (isPiped && download >= 0) return download
        if (interpreter < 0) interpreter = at
      } else if (isDownload(name) && interpreter >= 0 && OPENED.test(signs)) return interpreter
      if (!WRAPPERS.has(name) && !INTERPRETER.test(name)) break
    }
    if (download < 0) download = words.find(({ text }) => isDownload(nameOf(text)))?.at ?? -1
  }
  return -1
}

function partsOf(code: string): Part[] {
  const parts: Part[] = [{ signs: '', words: [] }]
  for (const { 0: text, index } of code.matchAll(TOKENS)) {
    const last = parts.at(-1) as Part
    if (!SIGN.test(text)) last.words.push({ text, at: index })
    else if (last.words.length === 0) last.signs = (last.signs + text).slice(-SIGNS_KEPT)
    else parts.push({ signs: text, words: [] })
  }
  return parts
}

/** Quotes and commas only part words, so that a list of arguments in a program reads as a command does. */
const TOKENS = /[^\s;|&(){}[\]`"',<>]+|[;|&(){}[\]`]/g
const SIGN = /^[;|&(){}[\]`]$/
const SIGNS_KEPT = 8
const PIPED = /(?:^|[^|])\|&?[({`]*$/
const OPENED = /[(`]$/
/** Flags, assignments and numbers before the name of a command, and ends of lines that go on. */
const IGNORED = /^(?:-.*|\/c|\w+=.*|\d+[smhd]?|\\)$/i

/** The name of a program without its folder. */
function nameOf(word: string): string {
  if (word.includes('://')) return ''
  const name = word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1).toLowerCase()
  return name.replace(/^[!@%]+/, '').replace(/\.exe$/, '')
}

const DOWNLOADS: ReadonlySet<string> = new Set(['curl', 'wget', 'aria2c', 'iwr', 'irm', 'invoke-webrequest', 'invoke-restmethod'])
const INTERPRETER =
  /^(?:(?:ba|z|da|k|a|fi)?sh|python[\d.]*|py|node|deno|bun|ruby|perl|php|lua|pwsh|powershell|iex|invoke-expression|osascript|cmd|source|\.)$/
/** What runs the command that follows it. */
const WRAPPERS: ReadonlySet<string> = new Set(
  'sudo doas env exec command builtin nohup time timeout nice then do else elif if while until ! xargs run uv'.split(' '),
)

function isDownload(name: string): boolean {
  return DOWNLOADS.has(name) || name.endsWith('.downloadstring')
}

/** Whether a command is one to look at, by its arguments and by the signs that follow them. */
type Rule = (words: Part['words'], follows: string) => boolean

const hasArguments: Rule = (words, follows) => (words[0] === undefined ? /^[({[`]/.test(follows) : !/^[=:]/.test(words[0].text))
const has = (...expected: RegExp[]): Rule => {
  return words => expected.every(one => words.some(({ text }) => one.test(text)))
}
const RULES: ReadonlyMap<string, Rule> = new Map([
  ...['npx', 'uvx', 'bunx', 'sudo', 'eval', 'ssh', 'scp'].map((name): [string, Rule] => [name, hasArguments]),
  ...['pip', 'pip3'].map((name): [string, Rule] => [name, has(/^install$/)]),
  ['pipx', has(/^run$/)],
  ['pnpm', has(/^dlx$/)],
  ['yarn', has(/^dlx$/)],
  ['npm', has(/^(?:install|i|add)$/, /^(?:-g|--global|--location=global)$/)],
  ['chmod', has(/^[ugoa]{0,4}\+[rwst]{0,4}x/i)],
  ['base64', has(/^(?:-[a-z]*d|--decode$)/i)],
  ['rm', has(/^-(?:-recursive$|[a-z]*r)/i, /^-(?:-force$|[a-z]*f)/i)],
])
