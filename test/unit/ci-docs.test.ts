import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }

/** Workflows of the documentation, which others copy into their repositories. */

const ROOT = join(import.meta.dirname, '..', '..')
const read = (path: string) => readFile(join(ROOT, path), 'utf8')
const listed = async (folder: string) =>
  (await readdir(join(ROOT, folder))).filter(name => name.endsWith('.md')).map(name => join(folder, name))

const TEXTS = new Map(
  await Promise.all(
    ['README.md', 'cli/action/README.md', ...(await listed('docs')), ...(await listed('docs/de'))].map(
      async path => [path, await read(path)] as const,
    ),
  ),
)
const MINOR = manifest.version.split('.').slice(0, 2).join('.')

/** What a text calls of the package and of the Action. */
function versionsIn(text: string): string[] {
  return [...text.matchAll(/(?:\bmountglass(?:-pictures)?@|\/cli\/action@v)(\d[\w.-]*\w|\d|<\S+>)/g)].map(
    ([, version = '']) => version,
  )
}

interface Step {
  uses?: string
  run?: string
  'working-directory'?: string
  with?: Record<string, unknown>
}

interface Workflow {
  on?: unknown
  jobs: Record<string, { permissions: Record<string, string>; steps: Step[] }>
}

const blocksOf = (text: string, key: RegExp) =>
  [...text.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].flatMap(([, code = '']) => (key.test(code) ? [parse(code)] : []))
const WORKFLOWS = [...TEXTS].flatMap(([path, text]) =>
  blocksOf(text, /^jobs:/m).map((workflow, index) => ({ name: `${path}, ${index + 1}`, workflow: workflow as Workflow })),
)
const GITLABS = [...TEXTS.values()].flatMap(text => blocksOf(text, /^ {2}script:/m) as Record<string, { script?: string[] }>[])
const [GITLAB = {}] = GITLABS

test('every version that a text names is that of the package: its minor one, or in full', () => {
  const named = [...TEXTS].flatMap(([path, text]) => versionsIn(text).map(version => ({ path, version })))
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter(({ version }) => version !== MINOR && version !== manifest.version)).toEqual([])
})

describe('a workflow for GitHub', async () => {
  const { inputs } = parse(await read('cli/action/action.yml')) as { inputs: Record<string, unknown> }

  test.each(WORKFLOWS)('of $name has few permissions, no checkout of ours, and inputs that the Action has', ({ workflow }) => {
    expect(workflow.on).toBeDefined()
    for (const { permissions, steps } of Object.values(workflow.jobs)) {
      expect(Object.entries(permissions).filter(([name, right]) => right === 'write' && name !== 'id-token')).toEqual([])
      for (const { uses = '', run = '', with: given = {} } of steps) {
        expect(run).not.toMatch(/git clone|npm ci/)
        if (uses.includes('/cli/action@')) for (const name of Object.keys(given)) expect(inputs).toHaveProperty(name)
        else expect(uses).toMatch(/^(?:|actions\/(?:checkout|setup-node)@v5)$/)
      }
    }
  })

  test('is there for each job, with the Action where it has a mode, and with the package', () => {
    const steps = WORKFLOWS.filter(({ name }) => name.startsWith('docs/ci.md')).flatMap(({ workflow }) =>
      Object.values(workflow.jobs).flatMap(job => job.steps),
    )
    expect(steps.flatMap(step => step.with?.mode ?? [])).toEqual(['check', 'diff'])
    expect(steps.flatMap(({ run = '' }) => /mountglass@\S+ (\w+)/.exec(run)?.[1] ?? [])).toEqual(['check', 'diff', 'verify'])
  })
})

test('the jobs for GitLab are those for GitHub', () => {
  const scripts = Object.values(GITLAB).flatMap(({ script = [] }) => script)
  expect(scripts.flatMap(line => /mountglass@\S+ (\w+)/.exec(line)?.[1] ?? [])).toEqual(['check', 'diff', 'verify'])
})

describe('npx starts outside of the checkout, whose .npmrc and node_modules would decide what it runs, and is told what to read', () => {
  const OUTSIDE = 'cd "$(mktemp -d)"'
  /** Of lines of one shell, what each npx is called with, and the last folder that the shell went to. */
  const callsIn = (lines: readonly string[]) =>
    lines.flatMap((line, index) => {
      const at = lines.slice(0, index).findLast(before => before.startsWith('cd '))
      return line.startsWith('npx ') ? [{ line, at }] : []
    })

  test('in workflows for GitHub, where setup-node asks no package manager of the checkout either', () => {
    const steps = WORKFLOWS.flatMap(({ workflow }) => Object.values(workflow.jobs).flatMap(job => job.steps))
    const started = steps.filter(({ run = '' }) => run.includes('npx'))
    expect(started.length).toBeGreaterThan(5)
    for (const step of started) {
      expect(step['working-directory'], step.run).toMatch(/^\$\{\{ runner\.temp \}\}$/)
      expect(step.run).toMatch(/ "\$GITHUB_WORKSPACE(?:\/mountglass\.lock\.json)?"$/)
    }
    for (const { uses = '', with: given } of steps)
      if (uses.includes('setup-node')) expect(given).toHaveProperty('package-manager-cache', false)
  })

  test('in jobs for GitLab', () => {
    const calls = GITLABS.flatMap(jobs => Object.values(jobs)).flatMap(({ script = [] }) => callsIn(script))
    expect(calls).toHaveLength(6)
    for (const { line, at } of calls) {
      expect(at, line).toBe(OUTSIDE)
      expect(line).toMatch(/ "\$CI_PROJECT_DIR(?:\/mountglass\.lock\.json)?"$/)
    }
  })

  test.each(['docs/ci.md', 'docs/de/ci.md'])('in the shell of %s', path => {
    const shells = [...(TEXTS.get(path) ?? '').matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, code = '']) => code.split('\n'))
    const calls = shells.flatMap(callsIn)
    expect(calls).toHaveLength(4)
    for (const { line, at } of calls) {
      expect(at, line).toBe(OUTSIDE)
      expect(line).toContain(' ~/repositories/acme/tools')
    }
  })
})

test('every command of a workflow exists, with its options', async () => {
  const commands = await read('cli/commands.ts')
  const steps = WORKFLOWS.flatMap(({ workflow }) => Object.values(workflow.jobs).flatMap(job => job.steps))
  const lines = [...steps.map(({ run = '' }) => run), ...Object.values(GITLAB).flatMap(({ script = [] }) => script)]
  const called = lines.flatMap(line => [...line.matchAll(/mountglass@\S+ (\w+)(.*)/g)])
  expect(called.length).toBeGreaterThan(5)
  for (const [line, command = '', rest = ''] of called) {
    const [, described = ''] = commands.split(`.command('${command}')`)
    for (const option of rest.match(/--[a-z-]+/g) ?? []) expect(described.split('.command(')[0], line).toContain(`'${option}`)
  }
})
