import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Folders and files whose sentences a person reads at the terminal. */
const SPOKEN = [
  'bin',
  'api',
  'cli',
  'cli/lock',
  'cli/reader',
  'indexer/check/fail-on.ts',
  'indexer/check/terminal.ts',
  'indexer/check/difference-text.ts',
  'indexer/check/difference-words.ts',
  'indexer/sweep/sweep-tally.ts',
  'infra',
  'infra/s3/open.ts',
  'infra/worktree/commit.ts',
  'infra/worktree/place.ts',
  'core/settings.ts',
  'core/typed-address.ts',
]

/** Calls whose texts are for programs: logs, warnings of the process, reasons of signals, and the names in the help. */
const FOR_PROGRAMS = [
  /(?:^|\.)log\.(?:info|warn|error|fatal)$/i,
  /(?:^|\.)emitWarning$/,
  /^stop\.abort$/,
  /\.(?:argument|option)$/,
]

/** What people type, and what only a fault in the code itself would show. */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  'cli/job-main.ts': ['the worker disconnected'],
  'cli/keys.ts': ['mountglass keys rotate --retire '],
  'cli/own-deps.ts': ['new keys cannot be read'],
  'cli/reader/commands.ts': [
    'a mount was ready, and its search is not',
    'a mount was ready, and its skill is not',
    'the skill is not ready',
  ],
  'cli/reader/source.ts': ['GitHub is not served'],
  'cli/pin.ts': ['mountglass verify --update', 'no address was given'],
  'api/purpose-keys.ts': ['at least one sealing key is needed'],
  // Causes of a fallback, which the log has.
  'infra/change-feed.ts': ['others write the changes at the same time again and again', 'the store answers too late'],
}

function filesOf(place: string): string[] {
  if (place.endsWith('.ts')) return [place]
  const files = readdirSync(join(ROOT, place), { withFileTypes: true })
  return files.filter(file => file.isFile() && file.name.endsWith('.ts')).map(file => `${place}/${file.name}`)
}

/** Texts of two words or more, except those for programs. */
function literalsOf(text: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && FOR_PROGRAMS.some(pattern => pattern.test(node.expression.getText()))) return
    if (ts.isNewExpression(node) && /^(?:Read|Index)Error$/.test(node.expression.getText())) return
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
    if (isText && /\p{L}{2,} \p{L}{2,}/u.test(node.text)) found.push(node.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('one.ts', text, ts.ScriptTarget.Latest, true))
  return found
}

test('text printed by commands is in the catalogue', () => {
  const escaped = SPOKEN.flatMap(filesOf).flatMap(file =>
    literalsOf(readFileSync(join(ROOT, file), 'utf8'))
      .filter(literal => !KEPT[file]?.includes(literal))
      .map(literal => `${file}: ${literal}`),
  )
  expect(escaped).toEqual([])
})

test('a sentence in a command is found, and one of a log is not', () => {
  expect(literalsOf("process.stdout.write('nothing changes')")).toEqual(['nothing changes'])
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source
  expect(literalsOf('report(`there is no ${name} any more`)')).toEqual(['there is no ', ' any more'])
  expect(literalsOf("log.warn({}, 'cannot be listed'); import('./not here.ts')")).toEqual(['./not here.ts'])
})
