import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestFile } from '#test/support/repository.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { listen } from '../mcp/scene.ts'

/*
 * The client of npm installs from an address what it installs from a clone: the same skills under the same names, with the same files. Beside
 * that it has the license file of the repository. What a license or an exclusion withholds is withheld.
 */

const run = promisify(execFile)
const CLI = join(import.meta.dirname, '..', '..', 'node_modules', 'skills', 'bin', 'cli.mjs')
const skill = (name: string, more = '', body = 'Do it.\n') => `---\nname: ${name}\ndescription: About it.\n${more}---\n${body}`
const MIT = '{"license":"MIT"}\n'

interface Sample {
  files: Readonly<Record<string, TestFile>>
  /** Folders that are installed from both. */
  installed: readonly string[]
}

const SAMPLES: Readonly<Record<string, Sample>> = {
  metadata: {
    files: {
      'skills/nested/SKILL.md': skill('nested', 'metadata:\n  openclaw:\n    requires: { bins: [mail] }\n    emoji: "x"\n'),
      'skills/number/SKILL.md': skill('number', 'metadata:\n  version: 1.10\n  ready: true\n  at: 2026-01-01\n'),
      'skills/word/SKILL.md': skill('word', 'metadata: none\n'),
      'skills/infinite/SKILL.md': skill('infinite', 'metadata: { weight: .inf }\n'),
      'skills/more/SKILL.md': skill('more', 'compatibility: 3\nallowed-tools: [a, b]\nversion: 2\n'),
    },
    installed: ['infinite', 'more', 'nested', 'number', 'word'],
  },
  names: {
    files: {
      'skills/mail/SKILL.md': skill('acme-sort-mail'),
      'skills/loud/SKILL.md': skill('Writing Hookify Rules'),
      'skills/dots/SKILL.md': skill('"../../.ssh"'),
      'skills/double/SKILL.md': skill('double--hyphen'),
      'skills/quoted/SKILL.md': skill('"3000"'),
    },
    installed: ['3000', 'acme-sort-mail', 'double-hyphen', 'ssh', 'writing-hookify-rules'],
  },
  fences: {
    files: {
      'skills/crlf/SKILL.md': skill('crlf').replaceAll('\n', '\r\n'),
      'skills/mark/SKILL.md': `\uFEFF${skill('mark')}`,
      'skills/blanks/SKILL.md': '---\nname: blanks\ndescription: Blanks.\n---  \nDo it.\n',
      'skills/more/SKILL.md': '---\nname: more\ndescription: More hyphens.\n-----\nDo it.\n',
    },
    installed: ['blanks', 'crlf', 'mark', 'more'],
  },
  refused: {
    files: {
      'skills/fine/SKILL.md': skill('fine'),
      'skills/number/SKILL.md': skill('3000'),
      'skills/nameless/SKILL.md': '---\ndescription: No name.\n---\nx\n',
      'skills/silent/SKILL.md': '---\nname: silent\n---\nx\n',
      'skills/plain/SKILL.md': 'No front matter.\n',
      'skills/blank/SKILL.md': '--- \nname: blank\ndescription: A blank.\n---\nx\n',
      'skills/open/SKILL.md': '---\nname: open\ndescription: No end.\n',
      'skills/colon/SKILL.md': '---\nname: colon\ndescription: Use: always\n---\nx\n',
      'skills/twice/SKILL.md': '---\nname: twice\nname: twice\ndescription: Two.\n---\nx\n',
      'skills/internal/SKILL.md': skill('internal', 'metadata: { internal: true }\n'),
    },
    installed: ['fine'],
  },
  root: {
    files: { 'SKILL.md': skill('mail-tool'), 'scripts/run.sh': { mode: '100755', content: '#!/bin/sh\n' }, 'docs/a.md': '# A\n' },
    installed: ['mail-tool'],
  },
  copies: {
    files: Object.fromEntries(
      ['skills', '.claude/skills', '.agents/skills'].flatMap(folder =>
        ['plan', 'write'].flatMap(name => [
          [`${folder}/${name}/SKILL.md`, skill(name)],
          [`${folder}/${name}/references/a.md`, '# A\n'],
        ]),
      ),
    ),
    installed: ['plan', 'write'],
  },
  large: {
    files: {
      ...Object.fromEntries(Array.from({ length: 70 }, (_, number) => [`skills/s${number}/SKILL.md`, skill(`s${number}`)])),
      'skills/model/SKILL.md': skill('model'),
      'skills/model/model.bin': randomBytes(9 * 1024 * 1024),
    },
    installed: [...Array.from({ length: 70 }, (_, number) => `s${number}`), 'model'].sort(),
  },
  withheld: {
    files: {
      'SKILLSET.md': '---\nexclude: [skills/secret, "*.secret.md"]\n---\n',
      'skills/open/SKILL.md': skill('open'),
      'skills/open/a.secret.md': 'Excluded.\n',
      'skills/closed/SKILL.md': skill('closed', 'license: Proprietary\n'),
      'skills/secret/SKILL.md': skill('secret'),
    },
    installed: ['open'],
  },
}
/** What is installed from a clone alone, by sample. */
const WITHHELD: Readonly<Record<string, readonly string[]>> = { withheld: ['closed', 'open/a.secret.md', 'secret'] }

let app: TestApp
let origin: string
beforeAll(async () => {
  const repositories = Object.entries(SAMPLES).map(([name, { files }]) => [`acme/${name}`, { 'package.json': MIT, ...files }])
  app = await testApp(Object.fromEntries(repositories))
  origin = await listen(app)
})
afterAll(() => app.close())

/** The files that the client installs, by their paths. */
async function install(source: string): Promise<Map<string, string>> {
  const home = await mkdtemp(join(tmpdir(), 'mountglass-installed-'))
  const env = { PATH: process.env.PATH ?? '', HOME: home, XDG_STATE_HOME: join(home, 'state'), DISABLE_TELEMETRY: '1', CI: '1' }
  const args = [CLI, 'add', source, '--agent', 'claude-code', '--copy', '-y']
  await run(process.execPath, args, { cwd: home, env })
  const folder = join(home, '.claude', 'skills')
  const files = new Map<string, string>()
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name)
    // The client drops a byte order mark of what it loads.
    if ((await stat(path)).isFile()) files.set(name, (await readFile(path, 'utf8')).replace(/^\uFEFF/, ''))
  }
  await rm(home, { recursive: true })
  return files
}

async function clone(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-clone-'))
  await run('git', ['clone', '-q', app.repository(`acme/${name}`).gitDir, join(folder, name)])
  return join(folder, name)
}

const foldersOf = (files: ReadonlyMap<string, string>) =>
  [...new Set([...files.keys()].map(path => path.split('/', 1)[0]))].sort()

describe('an address installs what a clone does', () => {
  test.each(Object.entries(SAMPLES))('%s', async (name, { installed }) => {
    await app.open(`/local/acme/${name}`)
    const [fromClone, fromAddress] = [await install(await clone(name)), await install(`${origin}/local/acme/${name}`)]
    expect(foldersOf(fromAddress)).toEqual(installed)
    const withheld = WITHHELD[name] ?? []
    const wanted = [...fromClone].filter(([path]) => !withheld.some(one => path === one || path.startsWith(`${one}/`)))
    expect(Object.fromEntries(fromAddress)).toEqual(Object.fromEntries(wanted))
  })
})
