/**
 * Local S3 and PostgreSQL servers, for the tests and for trying a deployment. Their data is removed when they stop.
 *
 *   npm run -s test-server -- start s3     starts it and prints the settings for it, as lines for a shell
 *   npm run -s test-server -- env s3       prints them again: eval "$(npm run -s test-server -- env s3)"
 *   npm run -s test-server -- stop s3
 *
 * The tests start `serve <server> <folder>`: it prints the settings as one line of JSON, and stops when its standard input closes, which
 * happens when the test run ends, even if it is killed.
 */
import { spawn } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { SERVERS } from './servers/servers.mjs'
import { isInstalled, supervise } from './servers/supervise.mjs'

const PROGRAM = fileURLToPath(import.meta.url)
const PLACE = join(dirname(dirname(PROGRAM)), '.mountglass', 'test-servers')
const STOP_MS = 30_000

/** An error that the caller can fix, reported in one line. */
class UseError extends Error {}

const [command = '', name = '', folder = ''] = process.argv.slice(2)
try {
  await run()
} catch (error) {
  process.stderr.write(`test-server: ${error instanceof UseError ? error.message : /** @type {Error} */ (error).stack}\n`)
  process.exitCode = 1
}

async function run() {
  const kind = new Map(Object.entries(SERVERS)).get(name)
  const usage = `npm run -s test-server -- start|env|stop ${Object.keys(SERVERS).join('|')}`
  if (kind === undefined) throw new UseError(usage)
  if (command === 'serve' && folder !== '') return await serve(kind, folder, { isDetached: process.argv.includes('--detached') })
  if (command === 'start') return await start(kind)
  if (command === 'env') return print((await requireState()).env)
  if (command === 'stop') return await stop()
  throw new UseError(usage)
}

/**
 * @param {import('./servers/supervise.mjs').ServerKind} kind
 * @param {string} folder
 * @param {{ isDetached: boolean }} options
 */
async function serve(kind, folder, { isDetached }) {
  /** @type {Promise<null>} */
  const told = new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve(null))
    if (!isDetached) process.stdin.resume().once('close', () => resolve(null))
  })
  const server = await supervise(kind, folder)
  process.stdout.write(`${JSON.stringify(server.env)}\n`)
  const failure = await Promise.race([told, server.failed])
  await server.stop()
  process.stdin.destroy()
  if (failure !== null) throw failure
}

/** @param {import('./servers/supervise.mjs').ServerKind} kind */
async function start(kind) {
  if (!isInstalled(kind)) throw new UseError(`install the packages first: apt-get install ${kind.packages.join(' ')}`)
  const running = await readState()
  if (running !== null) return print(running.env)
  await mkdir(PLACE, { recursive: true })
  const child = spawn(process.execPath, [PROGRAM, 'serve', name, join(PLACE, name), '--detached'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', text => (errors += text))
  await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', text => {
      output += text
      if (output.endsWith('\n')) resolve(null)
    })
    child.once('close', () => reject(new UseError(`the server did not start\n${errors}`)))
  })
  const state = { pid: child.pid ?? 0, env: JSON.parse(output) }
  await writeFile(stateFile(), JSON.stringify(state), { mode: 0o600 })
  print(state.env)
  child.stdout.destroy()
  child.stderr.destroy()
  child.unref()
}

async function stop() {
  const { pid } = await requireState()
  process.kill(pid, 'SIGTERM')
  for (const deadline = Date.now() + STOP_MS; await isOurs(pid); await sleep(50)) {
    if (Date.now() > deadline) throw new UseError(`the server did not stop: process ${pid}`)
  }
  await rm(stateFile(), { force: true })
}

function stateFile() {
  return join(PLACE, `${name}.json`)
}

/** @returns {Promise<{ pid: number, env: Record<string, string> } | null>} */
async function readState() {
  const text = await readFile(stateFile(), 'utf8').catch(() => null)
  if (text === null) return null
  const state = JSON.parse(text)
  return (await isOurs(state.pid)) ? state : null
}

async function requireState() {
  const state = await readState()
  if (state === null) throw new UseError(`${name} is not running: npm run -s test-server -- start ${name}`)
  return state
}

/**
 * Whether the process is still the server: its number may belong to another process by now.
 *
 * @param {number} pid
 */
async function isOurs(pid) {
  const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
  return words.includes(PROGRAM) && words.includes(join(PLACE, name))
}

/** @param {Record<string, string>} env */
function print(env) {
  const lines = Object.entries(env).map(([variable, value]) => `export ${variable}='${value.replaceAll("'", "'\\''")}'`)
  process.stdout.write(`${lines.join('\n')}\n`)
}
