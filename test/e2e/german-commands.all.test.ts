import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand, startCommand } from '#test/support/command.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'

let repositories: TestRepositories
let folder: string
let commit: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mountglass-german-'))
  repositories = await createRepositories()
  const tools = await repositories.create('acme', 'tools')
  await tools.commit({
    'package.json': '{"license":"MIT"}',
    'skills/a/SKILL.md': '---\nname: a\ndescription: d\n---\nDo.\n',
    'skills/b/SKILL.md': '---\nname: b\ndescription: d\n---\nDo.\n',
  })
  commit = await tools.commit({ 'docs/b.md': '# B\n' })
  const secret = await repositories.create('acme', 'secret')
  await secret.commit({ 'a.md': '# A\n' })
  await writeFile(join(secret.gitDir, 'mountglass-private'), '')
})
afterAll(async () => {
  await repositories.remove()
  await rm(folder, { recursive: true, force: true })
})

const where = (env: Record<string, string> = {}) => ({
  env: {
    LANG: 'de_DE.UTF-8',
    MOUNTGLASS_GITHUB: 'off',
    MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root,
    MOUNTGLASS_STORE: `disk:${join(folder, 'store')}`,
    ...env,
  },
  cwd: folder,
})
const run = (args: string[], env?: Record<string, string>) => runCommand(args, where(env))

test('index, sweep, token and keys report in German on a German terminal', async () => {
  const indexed = await run(['index', '/local/acme/tools'])
  expect(indexed.stderr.split('\n').map(line => line.replace(/\s.*/, ''))).toEqual([
    '/local/acme/tools',
    'Baum',
    'Regeln',
    'Inhalt',
    'Ablage',
    'Skills:',
    '',
  ])
  expect(indexed.stderr).toContain(`/local/acme/tools am Commit ${commit}\n`)
  expect(indexed.stderr).toMatch(/\nBaum {5}Einträge: 4 von 4(?:, \d+\/s)? \(\d+,\d s\)\n/)
  expect(indexed.stderr).toMatch(/\nSkills: 2, Dokumente: 1, Objekte: \d+, Byte: \d+\n$/)
  expect((await run(['index', 'local/acme/tools'])).stderr).toMatch(/\nschon indexiert\n$/)
  expect(await run(['index', 'gh/acme/tools'])).toMatchObject({
    status: 2,
    stderr:
      'address.unknown_host: diese Installation kennt das Host-Segment der Adresse nicht; prüfen Sie die Schreibweise; eine Adresse beginnt mit local/\n',
  })
  expect((await run(['sweep'])).stdout.split('\n')).toEqual([
    'unbenutzt, wird mit --remove entfernt:',
    '  0 Snapshots',
    '  0 Packs, die kein Snapshot verwendet',
    '  0 Einträge des Zustandsspeichers',
    '  0 B an Objekten',
    'behalten:',
    '  1 Snapshot in 1 Repository',
    '  0 unbenutzte Packs, 0 B: Das erste Aufräumen, das mindestens einen Tag nach dieser Feststellung läuft, entfernt sie',
    '',
  ])
  expect(await run(['keys', 'rotate'])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /^mountglass: in .* gibt es keine Schlüssel; der Dienst erzeugt sie bei seinem ersten Start\n$/,
    ),
  })
  expect((await run(['token', 'create', '/local/acme/secret'])).stdout).toMatch(/^mgp_\w+\n$/)
  expect((await run(['token', 'list'])).stdout).toMatch(/\t\/local\/acme\/secret\tläuft ab \S+Z\tnie verwendet\tcommand line\n$/)
  expect((await run(['token', 'create', '/local/acme/tools'])).stderr).toBe(
    'mountglass: jeder darf dieses Repository lesen; es braucht kein Token\n',
  )
  expect((await run(['keys', 'rotate'])).stdout.split('\n')).toEqual([
    'Schlüssel 2 ist hinzugefügt und siegelt von jetzt an. Ältere Schlüssel öffnen weiterhin.',
    'Starten Sie alle Prozesse des Dienstes gleichzeitig neu: Sie lesen die Schlüssel beim Start.',
    'Entfernen Sie in 30 Tagen den alten Schlüssel: mountglass keys rotate --retire 1',
    '',
  ])
})

test('check says in German what it finds, and its document stays English', async () => {
  await mkdir(join(folder, 'skills/one'), { recursive: true })
  await writeFile(join(folder, 'skills/one/SKILL.md'), 'See [it](missing.md).\n')
  const { stdout } = await run(['check', 'skills', '--private'])
  const said = stdout.replace(/\s+/g, ' ')
  expect(said).toContain('die Datei beginnt nicht mit einem Frontmatter')
  expect(said).toContain('missing.md führt ins Leere')
  expect((await run(['check', 'skills', '--private', '--json'])).stdout).toContain('"missing.md leads to nothing"')
  await rm(join(folder, 'skills'), { recursive: true })
})

test('pin and verify report in German, and their documents stay English', async () => {
  expect((await run(['pin', '/local/acme/tools'])).stdout.split('\n')).toEqual([
    '/local/acme/tools',
    `    2 Skills, 2 Dateien am Commit ${commit}`,
    `    Agenten, die /local/acme/tools@${commit} lesen, bleiben bei diesem Commit`,
    '',
    'mountglass.lock.json: 1 gepinnt',
    '',
  ])
  expect((await run(['verify'])).stdout).toBe(
    `✓ /local/acme/tools  unverändert: 2 Skills am Commit ${commit.slice(0, 12)}\n\n1 Adresse: 1 unverändert\n`,
  )
  const elsewhere = { MOUNTGLASS_LOCAL_REPOSITORIES: folder }
  expect((await run(['verify'], elsewhere)).stdout).toBe(
    '- /local/acme/tools  weg: das Repository /local/acme/tools gibt es nicht; prüfen Sie MOUNTGLASS_LOCAL_REPOSITORIES [mount.repo_not_found]\n\n1 Adresse: 1 weg\n',
  )
  expect(JSON.parse((await run(['verify', '--json'], elsewhere)).stdout).addresses[0].error).toEqual({
    code: 'mount.repo_not_found',
    message: 'there is no repository /local/acme/tools; check MOUNTGLASS_LOCAL_REPOSITORIES',
  })
  expect(await run(['verify', 'none.json'])).toMatchObject({
    status: 2,
    stderr: 'mountglass: none.json gibt es nicht: Schreiben Sie die Datei mit mountglass pin, oder nennen Sie eine andere\n',
  })
})

test('publish says in German what it changes', async () => {
  await writeFile(join(folder, 'featured.yaml'), '- address: /local/acme/tools\n')
  expect((await run(['publish', '.', '--dry-run'])).stdout).toBe(
    'neu: featured /local/acme/tools\nnichts wurde geschrieben (--dry-run)\n',
  )
  expect((await run(['publish', '.'])).stdout).toBe('neu: featured /local/acme/tools\nveröffentlicht\n')
  expect((await run(['publish', '.'])).stdout).toBe('nichts ändert sich\n')
  await writeFile(join(folder, 'featured.yaml'), '- address: /local/acme/tools\n  verified: yes please\n')
  expect(await run(['publish', '.'])).toMatchObject({
    status: 1,
    stderr: 'featured.yaml:2: verified: muss true oder false sein\n',
  })
})

test.each([
  [['check', 'nowhere'], {}, 'mountglass: den Ordner nowhere gibt es nicht\n'],
  [['diff', '.'], {}, 'mountglass: . liegt in keinem Git-Arbeitsbaum, also gibt es nichts zu vergleichen\n'],
  [['mcp', 'nowhere'], {}, 'mountglass: nowhere ist weder ein Ordner noch die Adresse eines Repositorys\n'],
  [
    ['work'],
    { MOUNTGLASS_LOG: 'loud' },
    'mountglass: MOUNTGLASS_LOG: muss einer dieser Werte sein: fatal, error, warn, info, debug, trace, silent\n',
  ],
  [['serve'], { PORT: '70000' }, 'mountglass: PORT: muss eine Portnummer von 0 bis 65535 sein\n'],
  [['serve'], { MOUNTGLASS_INDEXER: 'x' }, 'mountglass: MOUNTGLASS_INDEXER: muss inline oder none sein\n'],
  [
    ['sweep'],
    { MOUNTGLASS_STORE: 'tape:' },
    'MOUNTGLASS_STORE: muss disk:<folder>, s3:<bucket>, s3:<bucket>/<prefix> oder memory: sein\n',
  ],
])('%j with %j says in German what is wrong', (args, env, message) => {
  const { status, stderr } = startCommand(args, where(env))
  expect(stderr).toBe(message)
  expect(status).not.toBe(0)
})
