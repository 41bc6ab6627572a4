/** One line a step: what is done, then how long it took. What a step prints is shown only when it fails. */
import { spawn } from 'node:child_process'

/** A step that failed; the message says what to do, or holds the output of the program that failed. */
export class StepError extends Error {}

/**
 * @template T
 * @param {string} title
 * @param {() => Promise<T>} work
 * @param {NodeJS.WritableStream} out receives the line
 * @returns {Promise<T>}
 */
export async function step(title, work, out = process.stdout) {
  const start = performance.now()
  out.write(`${title} … `)
  try {
    const result = await work()
    out.write(`${((performance.now() - start) / 1000).toFixed(1)} s\n`)
    return result
  } catch (error) {
    out.write('failed\n')
    throw error
  }
}

/**
 * Runs a program and keeps what it prints. A signal to this process ends it as well.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} options
 * @returns {Promise<string>} what it printed, trimmed
 * @throws StepError with all that the program printed, when it exits with anything but 0
 */
export function runQuietly(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    /** @type {Buffer[]} */
    const output = []
    child.stdout?.on('data', chunk => output.push(chunk))
    child.stderr?.on('data', chunk => output.push(chunk))
    /** @param {NodeJS.Signals} signal */
    const stop = signal => {
      child.kill(signal)
    }
    process.once('SIGINT', stop).once('SIGTERM', stop)
    const forget = () => process.off('SIGINT', stop).off('SIGTERM', stop)
    child.once('error', error => {
      forget()
      reject(new StepError(`${program}: ${'code' in error && error.code === 'ENOENT' ? 'is not installed' : error.message}`))
    })
    child.once('close', (code, signal) => {
      forget()
      const text = Buffer.concat(output).toString().trim()
      if (code === 0) resolve(text)
      else reject(new StepError(text || `${program} ended with ${signal ?? code}`))
    })
  })
}
