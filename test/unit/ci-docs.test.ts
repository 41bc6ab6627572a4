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
const [GITLAB = {}] = blocksOf(TEXTS.get('docs/ci.md') ?? '', /^ {2}script:/m) as Record<string, { script?: string[] }>[]

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
  expect(scripts.map(line => /mountglass@\S+ (\w+)/.exec(line)?.[1])).toEqual(['check', 'diff', 'verify'])
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
