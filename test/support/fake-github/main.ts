/**
 * Serves a folder of repositories as GitHub would, so that the product can be tried against `gh` addresses without a network.
 *
 *   npm run fake-github -- <folder> [--port 8400]
 *
 * The folder holds `<owner>/<name>`, `<owner>/<name>.git`. Prints how to start the product against it, and every request.
 */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { RequestRecord } from './log.ts'
import type { FakeGitHub } from './server.ts'

const USAGE = 'usage: npm run fake-github -- <folder of owner/repository folders> [--port 8400, 0 for free ones]\n'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { port: { type: 'string', default: '8400' }, help: { type: 'boolean', short: 'h', default: false } },
})
const [folder] = positionals
const port = Number(values.port)
const isFolder = folder !== undefined && (await stat(folder).catch(() => null))?.isDirectory() === true

if (values.help) process.stdout.write(USAGE)
else if (!isFolder || positionals.length !== 1 || !Number.isInteger(port) || port < 0 || port > 65_530) {
  process.stderr.write(isFolder ? USAGE : `${folder ?? 'the folder'} is not there\n${USAGE}`)
  process.exitCode = 1
} else {
  const { startFakeGitHub } = await import('./server.ts')
  const github = await startFakeGitHub({
    root: resolve(folder),
    onAnswer: show,
    ...(port === 0 ? {} : { firstPort: port }),
  }).catch(explain)
  if (github) await serve(github)
}

function explain(error: Error): null {
  process.stderr.write(`cannot listen on the five ports from ${port}: ${error.message}\n`)
  process.exitCode = 1
  return null
}

async function serve(github: FakeGitHub): Promise<void> {
  const person = github.user('octo-reader', { name: 'A reader' })
  const token = github.personalToken(person, [])
  await github.world.look()
  const names = [...github.world.repositories].map(({ owner, name }) => `${owner.login}/${name}`)

  const settings = Object.entries(github.settings({ token })).map(([name, value]) => `  ${name}=${value} \\`)
  const lines = [
    `GitHub's stand-in: ${github.origins.web} (API ${github.origins.api})`,
    `Repositories: ${names.length === 0 ? 'none yet' : names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`,
    '',
    'Start the product in another terminal with:',
    '',
    ...settings,
    '  npm start',
    '',
    ...(names.length > 0 ? [`An address to begin with: /gh/${names[0]}`, ''] : []),
    '',
  ]
  process.stdout.write(lines.join('\n'))

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void github.close())
  }
}

function show({ host, method, path, status, bytesOut }: RequestRecord): void {
  process.stdout.write(`${host} ${method} ${path} ${status === 0 ? 'broken off' : status} ${bytesOut} bytes\n`)
}
