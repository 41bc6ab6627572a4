import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { bundleAction } from '../../scripts/build-action.mjs'

/** The bundle of the Action, made of the sources as they are, run as the runner of GitHub does. */
export interface TestAction {
  run(options: RunOptions): Promise<ActionRun>
  remove(): Promise<void>
}

export interface RunOptions {
  /** By their names; the others are what `action.yml` says. */
  inputs: Readonly<Record<string, string>>
  /** What GitHub tells the workflow. */
  env: Readonly<Record<string, string>>
  /** Body of the event. */
  event: unknown
  /** Default: an empty folder. */
  workspace?: string
}

export interface ActionRun {
  code: number | null
  outputs: Record<string, string>
  /** Markdown. */
  summary: string
  /** What it printed, commands to the runner among it. */
  log: string
}

export const ACTION_FOLDER = join(import.meta.dirname, '..', '..', 'cli', 'action')

export async function makeAction(): Promise<TestAction> {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-action-'))
  const dist = join(folder, 'dist')
  await mkdir(dist)
  for (const [name, bytes] of await bundleAction()) await writeFile(join(dist, name), bytes)
  const action = load(await readFile(join(ACTION_FOLDER, 'action.yml'), 'utf8')) as ActionFile
  let runs = 0

  return {
    async run({ inputs, env, event, workspace }) {
      const place = join(folder, String(runs++))
      await mkdir(place)
      const files = { event: join(place, 'event.json'), output: join(place, 'output'), summary: join(place, 'summary') }
      await writeFile(files.event, JSON.stringify(event))
      await writeFile(files.output, '')
      await writeFile(files.summary, '')
      const defaults = Object.entries(action.inputs).map(([name, input]) => [name, (input.default ?? '').replace(OWN_TOKEN, '')])
      const given = Object.entries({ ...Object.fromEntries(defaults), ...inputs })
      const child = spawn(process.execPath, [join(dist, 'index.mjs')], {
        cwd: place,
        env: {
          PATH: process.env.PATH,
          RUNNER_TEMP: place,
          GITHUB_WORKSPACE: workspace ?? place,
          GITHUB_EVENT_PATH: files.event,
          GITHUB_OUTPUT: files.output,
          GITHUB_STEP_SUMMARY: files.summary,
          ...env,
          ...Object.fromEntries(given.map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let log = ''
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (log += text))
      const code = await new Promise<number | null>(resolve => child.once('close', resolve))
      return {
        code,
        outputs: readOutputs(await readFile(files.output, 'utf8')),
        summary: await readFile(files.summary, 'utf8'),
        log,
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** The workflow's own token, which the runner puts there: here nobody has one unless a test gives it. */
const OWN_TOKEN = /^\$\{\{ github\.token \}\}$/

interface ActionFile {
  inputs: Record<string, { default?: string }>
}

/** `name<<delimiter`, the value, `delimiter`. */
function readOutputs(text: string): Record<string, string> {
  const found = text.matchAll(/^(\w+)<<(\S+)\n([\s\S]*?)\n?\2$/gm)
  return Object.fromEntries([...found].map(([, name = '', , value = '']) => [name, value]))
}
