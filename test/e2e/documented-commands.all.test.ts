import { execFileSync, spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DOCS_PAGES } from '#site/lib/docs-pages.ts'
import { ensureBuilt } from '#test/site/support/built-site.ts'
import { type Service, startService } from '#test/support/service.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const TEXTS = ['README.md', ...DOCS_PAGES.flatMap(({ source }) => source ?? [])]
/** Programs that a command of the documentation calls and that stand in here, each beside the text that says what it does instead. */
const STAND_INS: Record<string, string> = {
  // The package of this checkout, which finds the git of the machine, and the client of the tests. What does not end by itself has worked once it
  // prints a line.
  npx: `while :; do case "$1" in --yes) shift ;; -p) shift 2 ;; *) break ;; esac; done
    case "$1" in
    mountglass|mountglass@*) shift; PATH="\${PATH#*:}"; case " $* " in
      *" --watch "*|" serve ") fifo="$HOME/started.$$"; mkfifo "$fifo"; PORT=0 MOUNTGLASS_GITHUB=off "$NODE" "$ROOT/bin/mountglass.mjs" "$@" > "$fifo" & read -r line < "$fifo"; kill $! ;;
      *) "$NODE" "$ROOT/bin/mountglass.mjs" "$@" ;; esac ;;
    skills) shift; "$NODE" "$ROOT/node_modules/skills/bin/cli.mjs" "$@" --yes --agent claude-code ;;
    *) exit 9 ;; esac`,
  // What it would start or call answers the first message of MCP.
  claude: `[ "$1 $2" = "mcp add" ] || exit 9
    shift 2; message='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}'
    if [ "$1" = "--transport" ]; then curl -sf "$4" -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' -d "$message" | grep -q serverInfo
    else shift 2; fifo="$HOME/mcp.$$"; mkfifo "$fifo.in" "$fifo.out"; "$@" < "$fifo.in" > "$fifo.out" &
      exec 3> "$fifo.in"; printf '%s\\n' "$message" >&3; read -r line < "$fifo.out"; exec 3>&-
      case "$line" in *serverInfo*) ;; *) exit 1 ;; esac; fi`,
  // A start is tried by scripts/check-fresh-clone.mjs, an install and the image by tests of their own; here, that the program takes these settings.
  npm: `case "$1" in start|install) ;; run) [ "$2" = image ] || exit 9 ;; *) exit 9 ;; esac
    [ -z "$MOUNTGLASS_LOCAL_REPOSITORIES" ] || [ -d "$MOUNTGLASS_LOCAL_REPOSITORIES" ]`,
  // An answer that says that something failed is no example of what the text says.
  curl: `PATH="\${PATH#*:}" exec curl --fail "$@"`,
  // The image is started by a test of its own.
  docker: '[ "$1" = run ] || exit 9',
  // The documentation names no place to clone from.
  git: '[ "$1" = clone ] && mkdir -p "$3"',
}

let service: Service
let home: string
/** A service with a private repository, and a token that reads it. */
let closed: Service
let token: string

beforeAll(async () => {
  await ensureBuilt()
  service = await startService({ MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_OPERATOR: join(ROOT, 'examples', 'operator') })
  await service.get('mounts', '/local/mountglass/handbook')
  home = await mkdtemp(join(tmpdir(), 'mountglass-documented-'))
  await openClosed()
  await mkdir(join(home, 'bin'))
  for (const [name, text] of Object.entries(STAND_INS))
    await writeFile(join(home, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  await cp(join(ROOT, 'examples', 'operator'), join(home, 'operator'), { recursive: true })
  const tools = join(home, 'repositories', 'acme', 'tools')
  await mkdir(join(tools, 'a'), { recursive: true })
  await writeFile(join(tools, 'LICENSE'), await readFile(join(ROOT, 'LICENSE')))
  execFileSync('git', ['init', '-q', '-b', 'main', tools])
  execFileSync('git', [
    '-C',
    tools,
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@example.org',
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    'first',
  ])
  await writeFile(join(tools, 'a', 'SKILL.md'), '---\nname: a\ndescription: What it does.\n---\nSee [nothing](nothing.md).\n')
})
afterAll(async () => {
  await service?.stop()
  await closed?.stop()
  await rm(home, { recursive: true, force: true })
})

async function openClosed(): Promise<void> {
  const root = join(home, 'closed')
  const folder = join(root, 'acme', 'private')
  await mkdir(folder, { recursive: true })
  execFileSync('git', ['init', '-q', '-b', 'main', folder])
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']
  execFileSync('git', ['-C', folder, ...author, 'commit', '-q', '--allow-empty', '-m', 'first'])
  await writeFile(join(folder, '.git', 'mountglass-private'), '')
  const settings = { MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_LOCAL_REPOSITORIES: root }
  closed = await startService(settings)
  const env = { PATH: process.env.PATH, ...settings, MOUNTGLASS_STORE: `disk:${closed.store}` }
  const command = [join(ROOT, 'bin', 'mountglass.mjs'), 'token', 'create', '/local/acme/private']
  token = execFileSync(process.execPath, command, { env, encoding: 'utf8' }).trim()
}

/** The commands of a text: its blocks for a shell, and those that begin as one. */
async function commandsOf(path: string): Promise<string[]> {
  const text = await readFile(join(ROOT, path), 'utf8')
  const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)]
  return blocks.flatMap(([, language, code = '']) => (language === 'sh' || /^(?:npx|curl|npm) /.test(code) ? [code] : []))
}

/** Placeholders of the documentation, and the address of the service, as they are here. */
function filledIn(code: string): string {
  return code
    .replace('<this repository>', 'https://example.org/mountglass')
    .replaceAll('<service>/api/v1/mounts/gh/acme/private', `${closed.baseUrl}/api/v1/mounts/local/acme/private`)
    .replaceAll('<service>/<address>', `${service.baseUrl}/local/mountglass/handbook`)
    .replaceAll('http://127.0.0.1:4321', service.baseUrl)
}

describe('a command of the documentation', () => {
  test.each(TEXTS)('of %s runs', async path => {
    const folder = await mkdtemp(join(home, 'run-'))
    const faults: string[] = []
    for (const code of await commandsOf(path)) {
      const env = { PATH: `${join(home, 'bin')}:${process.env.PATH}`, HOME: home, ROOT, NODE: process.execPath, TOKEN: token }
      const { status, stdout, stderr } = spawnSync('sh', ['-eu', '-c', `MOUNTGLASS_LOCAL_REPOSITORIES=\n${filledIn(code)}`], {
        cwd: folder,
        env,
        encoding: 'utf8',
        // It blocks this process, so no time limit of the test would end it.
        timeout: 600_000,
      })
      if (status !== 0) faults.push(`${code}${status}: ${stderr || stdout}`.slice(0, 600))
    }
    expect(faults).toEqual([])
  })

  test('is among those that are run here', async () => {
    const commands = (await Promise.all(TEXTS.map(commandsOf))).flat()
    expect(commands.length).toBeGreaterThan(8)
    for (const word of ['curl ', 'npx mountglass check', 'npx skills add', 'claude mcp add', 'npm start', 'node -e'])
      expect(commands.join('\n')).toContain(word)
  })

  test('installs skills with their license', async () => {
    const folders = await readdir(home)
    const installed = await Promise.all(
      folders
        .filter(name => name.startsWith('run-'))
        .map(name =>
          readdir(join(home, name), { recursive: true }).then(paths => paths.filter(path => path.endsWith('SKILL.md'))),
        ),
    )
    expect(installed.flat().length).toBeGreaterThan(3)
  })
})

/**
 * Paths that a text names and that are no request: files of the machine, forms with placeholders, the command of a skill, and the page of the metrics
 * port, which `status.all.test.ts` reads.
 */
const NO_REQUEST =
  /[<>{}…*]|^\/(?:api\/v1$|tmp|data|proc|git\/|hooks\/|owners$|mcp$|oauth\/|auth\/|social$|picture$|gh\b|docs\/|plan-week|status$|var|local\/acme)|^\/$/

describe('a request of the documentation', () => {
  test.each(TEXTS)('of %s is answered', async path => {
    const text = await readFile(join(ROOT, path), 'utf8')
    const named = [...text.matchAll(/`(?:GET )?(\/[^\s`]*)`/g)].map(([, target = '']) => target)
    const faults: string[] = []
    for (const target of new Set(named.filter(name => !NO_REQUEST.test(name)))) {
      const below = target.startsWith('/.well-known/') || target === '/llms.txt' ? `/local/mountglass/handbook${target}` : target
      const answer = await fetch(service.baseUrl + below)
      const { status } = answer
      await answer.arrayBuffer()
      if (status !== 200) faults.push(`${target}: ${status}`)
    }
    expect(faults).toEqual([])
  })

  test('is among those that are asked here', async () => {
    const texts = await Promise.all(TEXTS.map(path => readFile(join(ROOT, path), 'utf8')))
    for (const target of ['/local/mountglass/handbook@v1/reading', '/api/v1/openapi.json', '/healthz', '/llms.txt'])
      expect(texts.join('\n')).toContain(target)
  })

  test('for every route of the table of routes gives the documented answer', async () => {
    const routes = [...(await readFile(join(ROOT, 'README.md'), 'utf8')).matchAll(/^\| `([a-z]+)(\/<address>)?(\?\w+=)?` \|/gm)]
    expect(routes.map(([, name]) => name)).toEqual(['mounts', 'browse', 'find', 'skills', 'files', 'featured'])
    const values: Record<string, string> = {
      browse: 'writing',
      find: 'license',
      skills: 'writing/write-a-skill/SKILL.md',
      files: 'docs/limits.md',
    }
    for (const [, name = '', address, parameter] of routes) {
      const query = parameter === undefined ? '' : `${parameter}${values[name]}`
      const { status } = await fetch(
        `${service.baseUrl}/api/v1/${name}${address === undefined ? '' : '/local/mountglass/handbook'}${query}`,
      )
      expect({ name, status }).toEqual({ name, status: 200 })
    }
  })
})
