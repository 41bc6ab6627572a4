import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { createFileLinks, type Hyperlinks, hyperlinksOf } from '#cli/terminal.ts'

test.each<[string, NodeJS.ProcessEnv, Hyperlinks]>([
  ['nothing known', { TERM: 'xterm-256color' }, 'none'],
  ['Windows Terminal', { WT_SESSION: 'id' }, 'all'],
  ['a new VTE', { VTE_VERSION: '7600' }, 'all'],
  ['an old VTE', { VTE_VERSION: '5000' }, 'none'],
  ['iTerm', { TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.10.1' }, 'all'],
  ['an old iTerm', { TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.0.15' }, 'none'],
  ['WezTerm', { TERM_PROGRAM: 'WezTerm', TERM_PROGRAM_VERSION: '20240203-110809-5046fc22' }, 'all'],
  ['iTerm of no version', { TERM_PROGRAM: 'iTerm.app' }, 'none'],
  ['Terminal of macOS', { TERM_PROGRAM: 'Apple_Terminal', TERM_PROGRAM_VERSION: '455' }, 'none'],
  ['VS Code', { TERM_PROGRAM: 'vscode', TERM_PROGRAM_VERSION: '1.100.2' }, 'withoutLines'],
  ['kitty', { TERM: 'xterm-kitty' }, 'all'],
  ['kitty without colors', { TERM: 'xterm-kitty', NO_COLOR: '1' }, 'none'],
  ['kitty with an empty NO_COLOR', { TERM: 'xterm-kitty', NO_COLOR: '' }, 'all'],
  ['a CI service', { TERM: 'xterm-kitty', CI: 'true' }, 'none'],
  ['GNU screen in a VTE', { TERM: 'screen', VTE_VERSION: '7600', STY: '1.pts' }, 'none'],
  ['a dumb terminal', { TERM: 'dumb', VTE_VERSION: '7600' }, 'none'],
  ['links forced', { FORCE_HYPERLINK: '1', NO_COLOR: '1', TERM: 'dumb' }, 'all'],
  ['links forbidden', { FORCE_HYPERLINK: '0', TERM: 'xterm-kitty' }, 'none'],
])('the links of a terminal: %s', (_what, env, links) => {
  expect(hyperlinksOf(env, true)).toBe(links)
})

test('in a pipe there are links only if they are forced', () => {
  expect(hyperlinksOf({ TERM: 'xterm-kitty' }, false)).toBe('none')
  expect(hyperlinksOf({ FORCE_HYPERLINK: '' }, false)).toBe('all')
})

test('a link names host and file in printable ASCII, whatever the name of the file', () => {
  const link = createFileLinks('/srv/a b', 'all')
  expect(link('SKILL.md', 3)).toBe(`file://${new URL(`http://${hostname()}/`).hostname}/srv/a%20b/SKILL.md`)
  const hostile = link('x\u001B]8;;http:\u001B\\\n\u202E?#%\\é/SKILL.md') ?? ''
  expect(hostile).toMatch(/^file:[\x21-\x7e]+$/)
  expect(hostile.replace('%5D', ']')).toContain('/srv/a%20b/x%1B]8;;http:%1B%5C%0A%E2%80%AE%3F%23%25%5C%C3%A9/SKILL.md')
})

test('a terminal that links lines by itself gets links of files alone', () => {
  const link = createFileLinks('/srv', 'withoutLines')
  expect([link('a.md', 3), link('a.md')]).toEqual([null, expect.stringContaining('/srv/a.md')])
  expect(createFileLinks('/srv', 'none')('a.md')).toBeNull()
})
