import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Flip } from './flips.ts'

/** Starts the attackers. Returns what stops them, and gives the number of flips. */
export function startFlipping(flips: readonly Flip[]): () => Promise<number> {
  const program = fileURLToPath(new URL('./flip-program.ts', import.meta.url))
  const child = spawn(process.execPath, [program, JSON.stringify(flips)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const output = text(child.stdout)
  return async () => {
    child.stdin.end()
    return Number(await output)
  }
}
