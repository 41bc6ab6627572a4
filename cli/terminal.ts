import { hostname } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { styleText } from 'node:util'
import { fold, type Paint } from '#indexer/check/fold.ts'

/* What the terminal of a command can show: colors, columns and links. */

/** Colors only on a terminal, and not with `NO_COLOR`. `FORCE_COLOR` overrides both. */
export const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout })

/** Columns of standard output. In a file or a pipe nothing is folded, so that one entry stays one line. */
export function columnsOfOutput(): number {
  return process.stdout.columns || Number.POSITIVE_INFINITY
}

/** A sentence, with the command to type that it ends with. */
export type Line = string | { said: string; command: string }

/** Prints sentences, folded between words. What is indented stays so. */
export function printLines(lines: readonly Line[]): void {
  const width = columnsOfOutput()
  const folded = lines.flatMap(line => {
    const { said, command } = typeof line === 'string' ? { said: line, command: null } : line
    const indent = said.length - said.trimStart().length
    const spans = [{ text: said }, ...(command === null ? [] : [{ text: command, whole: true }])]
    return fold(spans, { paint, width, indent })
  })
  process.stdout.write(folded.map(line => `${line}\n`).join(''))
}

/**
 * `none`: the terminal shows no links (OSC 8), or it is unknown. `withoutLines`: it links `path:line` by itself and opens the line, which a file
 * URL cannot name.
 */
export type Hyperlinks = 'all' | 'withoutLines' | 'none'

interface KnownTerminal {
  variable: string
  value?: string
  /** The first version that has links; in `variable` itself, or in another one. */
  since?: { variable?: string; version: string }
  links?: Hyperlinks
}

/** Terminals with links, by a variable that each sets. */
const TERMINALS: readonly KnownTerminal[] = [
  { variable: 'WT_SESSION' },
  { variable: 'DOMTERM' },
  { variable: 'KONSOLE_VERSION', since: { version: '201200' } },
  // GNOME Terminal, Tilix, Xfce Terminal and others.
  { variable: 'VTE_VERSION', since: { version: '5001' } },
  { variable: 'TERM_PROGRAM', value: 'iTerm.app', since: { variable: 'TERM_PROGRAM_VERSION', version: '3.1' } },
  { variable: 'TERM_PROGRAM', value: 'WezTerm', since: { variable: 'TERM_PROGRAM_VERSION', version: '20200620' } },
  {
    variable: 'TERM_PROGRAM',
    value: 'vscode',
    since: { variable: 'TERM_PROGRAM_VERSION', version: '1.72' },
    links: 'withoutLines',
  },
  { variable: 'TERM_PROGRAM', value: 'zed', links: 'withoutLines' },
  { variable: 'TERM_PROGRAM', value: 'ghostty' },
  { variable: 'TERM_PROGRAM', value: 'Hyper' },
  { variable: 'TERM_PROGRAM', value: 'mintty' },
  { variable: 'TERM', value: 'xterm-kitty' },
  { variable: 'TERM', value: 'xterm-ghostty' },
  { variable: 'TERM', value: 'alacritty' },
  { variable: 'TERM', value: 'alacritty-direct' },
  { variable: 'TERM', value: 'foot' },
  { variable: 'TERM', value: 'foot-extra' },
]

/** Whether output has links: `FORCE_HYPERLINK` decides, else a known terminal has them unless a variable asks for plain text. */
export function hyperlinksOf(env: NodeJS.ProcessEnv, isTerminal: boolean): Hyperlinks {
  const forced = env.FORCE_HYPERLINK
  if (forced !== undefined) return forced === '0' ? 'none' : 'all'
  const isPlain = !isTerminal || env.TERM === 'dumb' || [env.NO_COLOR, env.CI, env.STY].some(value => value)
  const known = isPlain ? undefined : TERMINALS.find(terminal => isOf(terminal, env))
  return known === undefined ? 'none' : (known.links ?? 'all')
}

function isOf({ variable, value, since }: KnownTerminal, env: NodeJS.ProcessEnv): boolean {
  const stated = env[variable]
  if (!stated || (value !== undefined && stated !== value)) return false
  return since === undefined || isSince(env[since.variable ?? variable] ?? '', since.version)
}

/** Whether a version is at least the other one, number by number. Of a date with a hash only the date counts. */
function isSince(version: string, first: string): boolean {
  const numbers = (text: string) => (/^\d+(?:\.\d+)*/.exec(text)?.[0] ?? '').split('.').map(Number)
  const [has, needs] = [numbers(version), numbers(first)]
  const at = needs.findIndex((number, index) => number !== (has[index] ?? 0))
  return at < 0 || (has[at] ?? 0) > (needs[at] ?? 0)
}

/** The links of files below a folder of this machine. The URL names the host, as a terminal may show another machine. */
export function createFileLinks(root: string, links: Hyperlinks): (path: string, line?: number) => string | null {
  if (links === 'none') return () => null
  return (path, line) => (line !== undefined && links === 'withoutLines' ? null : fileUrl(join(root, path)))
}

/** `null` for what no URL of printable ASCII characters can name. */
function fileUrl(file: string): string | null {
  const url = pathToFileURL(file)
  if (process.platform !== 'win32') url.hostname = hostname()
  return /^[\x21-\x7e]+$/.test(url.href) ? url.href : null
}

/** The links that the output of a command about a folder has. */
export function fileLinksOf(root: string, env: NodeJS.ProcessEnv = process.env): ReturnType<typeof createFileLinks> {
  return createFileLinks(root, hyperlinksOf(env, process.stdout.isTTY === true))
}
