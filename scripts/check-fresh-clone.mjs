/**
 * Checks a fresh clone: clones HEAD into an empty folder, with an empty home and an empty npm cache, runs `npm start`, and opens the address
 * it prints. Exits with 1 when the handbook is not served. Needs Node 20 or later and no packages.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

// For what hangs: other tests run at the same time.
const START_MS = 900_000
const STOP_MS = 120_000
const HANDBOOK = '/local/mountglass/handbook'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const place = mkdtempSync(join(tmpdir(), 'mountglass-clone-'))
try {
  await checkFreshClone()
} finally {
  rmSync(place, { recursive: true, force: true, maxRetries: 3 })
}

async function checkFreshClone() {
  const clone = join(place, 'clone')
  const home = join(place, 'home')
  mkdirSync(home)
  execFileSync('git', ['clone', '--quiet', `file://${root}`, clone], { stdio: 'inherit' })
  const port = await freePort()
  const env = { ...cleanEnvironment(), HOME: home, PORT: String(port) }

  const first = await visit(clone, env, port)
  report('first start', first)
  const second = await visit(clone, env, port)
  report('second start', second)
  const changed = execFileSync('git', ['status', '--porcelain'], { cwd: clone, encoding: 'utf8' })
  if (changed !== '') throw new Error(`the start changed files of the clone:\n${changed}`)
}

/** The environment without the settings and the tools of this checkout. */
function cleanEnvironment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|MOUNTGLASS_|HOST$|PORT$|XDG_|NODE_(ENV|OPTIONS|PATH)$)/i.test(name),
  )
  const path = (process.env.PATH ?? '').split(delimiter).filter(folder => !folder.includes('node_modules'))
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter) }
}

/**
 * Starts the service, opens the handbook, and stops the service.
 *
 * @param {string} clone
 * @param {NodeJS.ProcessEnv} env
 * @param {number} port
 * @returns {Promise<{ answeredMs: number, readyMs: number }>} from the start to the printed address, and to the handbook
 */
async function visit(clone, env, port) {
  const began = performance.now()
  const sinceStart = () => performance.now() - began
  const origin = `http://127.0.0.1:${port}`
  const child = spawn('npm', ['start'], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let output = ''
  let hasEnded = false
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (output += text))
  child.once('exit', () => {
    hasEnded = true
  })

  /**
   * @param {string} what
   * @param {() => boolean | Promise<boolean>} isThere
   */
  const until = async (what, isThere) => {
    while (!(await isThere())) {
      if (hasEnded) throw new Error(`npm start ended before ${what}:\n${output}`)
      if (sinceStart() > START_MS) throw new Error(`no ${what} after ${START_MS / 1000} s:\n${output}`)
      await sleep(50)
    }
    return sinceStart()
  }

  try {
    const answeredMs = await until('a printed address', () => output.includes(`${origin}${HANDBOOK}`))
    const readyMs = await until('the handbook', async () => {
      const mount = await fetch(`${origin}/api/v1/mounts${HANDBOOK}`)
      return mount.ok && /** @type {{ index: { status: string } }} */ (await mount.json()).index.status === 'ready'
    })
    const page = await fetch(`${origin}${HANDBOOK}`)
    if (page.status !== 200 || !/^text\/html/.test(page.headers.get('content-type') ?? '')) {
      throw new Error(`the page of ${HANDBOOK} answered ${page.status}:\n${output}`)
    }
    child.kill('SIGTERM')
    for (const deadline = Date.now() + STOP_MS; !(hasEnded && (await isFree(port))); ) {
      if (Date.now() > deadline) throw new Error(`SIGTERM did not end npm start and the server:\n${output}`)
      await sleep(50)
    }
    return { answeredMs, readyMs }
  } finally {
    killGroup(child.pid)
  }
}

/**
 * Kills the processes that a start left behind. They are in one process group.
 *
 * @param {number | undefined} group
 */
function killGroup(group) {
  try {
    if (group !== undefined) process.kill(-group, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/**
 * @param {string} name
 * @param {{ answeredMs: number, readyMs: number }} times
 */
function report(name, { answeredMs, readyMs }) {
  /** @param {number} milliseconds */
  const seconds = milliseconds => `${(milliseconds / 1000).toFixed(1)} s`
  process.stdout.write(`fresh clone, ${name}: address after ${seconds(answeredMs)}, handbook ready after ${seconds(readyMs)}\n`)
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      server.close(() => resolve(port))
    })
  })
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function isFree(port) {
  return new Promise(resolve => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
