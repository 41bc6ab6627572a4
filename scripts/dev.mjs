/**
 * `npm run dev`: the service, started again when its sources change, and in front of it the pages, which reload in the browser when theirs
 * change. The policy of the pages is not active here, and repository texts are rendered by the code of the start.
 */
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prepare } from './setup/prepare.mjs'
import { StepError } from './setup/step.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const WATCHED = ['api', 'bin', 'cli', 'core', 'indexer', 'infra', 'words']

try {
  await develop(await prepare(root, { withDev: true }))
} catch (error) {
  if (!(error instanceof StepError)) throw error
  process.stderr.write(`mountglass: ${error.message}\n`)
  process.exitCode = 1
}

/** @param {string} node path of the Node that runs the programs */
async function develop(node) {
  const port = Number(process.env.PORT ?? 4321)
  const origin = `http://127.0.0.1:${port}`
  const api = `http://127.0.0.1:${port + 1}`
  const env = { ...process.env, MOUNTGLASS_BASE_URL: origin, HOST: '127.0.0.1', ASTRO_TELEMETRY_DISABLED: '1' }
  const watched = WATCHED.map(folder => `--watch-path=${join(root, folder)}`)
  const programs = [
    run(node, [...watched, '--watch-preserve-output', join(root, 'bin', 'mountglass.mjs'), 'serve'], {
      ...env,
      PORT: String(port + 1),
    }),
    run(node, [join(root, 'node_modules', 'astro', 'bin', 'astro.mjs'), 'dev', '--host', '127.0.0.1', '--port', String(port)], {
      ...env,
      MOUNTGLASS_DEV_API: api,
    }),
  ]
  const stop = () => {
    for (const program of programs) program.kill()
  }
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, stop)
  const ends = programs.map(program => new Promise(resolve => program.once('exit', code => resolve(code ?? 0))))
  process.exitCode = await Promise.race(ends)
  stop()
  await Promise.all(ends)
}

/** @param {string} node @param {readonly string[]} args @param {NodeJS.ProcessEnv} env */
function run(node, args, env) {
  return spawn(node, [...args], { cwd: root, env, stdio: 'inherit' })
}
