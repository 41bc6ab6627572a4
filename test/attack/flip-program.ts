/**
 * A program of an attacker: swaps paths for others every few milliseconds until its standard input ends, then puts everything back and
 * writes how often it did.
 *
 * Argument: a JSON list of `Flip`.
 */
import { renameSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Flip } from './flips.ts'

const flips: Flip[] = JSON.parse(process.argv[2] ?? '[]')
const isOn = new Set<Flip>()
let count = 0
let isOver = false
process.stdin.on('end', () => {
  isOver = true
})
process.stdin.resume()

while (!isOver) {
  // Shown for a moment, so that the checks of the service find the repository in order for most of the time.
  for (const flip of flips) if (isOn.has(flip) || Math.random() < 0.3) toggle(flip)
  await sleep(1 + Math.random() * 3)
}
for (const flip of isOn) toggle(flip)
process.stdout.write(`${count}\n`)

function toggle(flip: Flip): void {
  const { path, evil, parked } = flip
  if (isOn.delete(flip)) {
    move(path, evil)
    move(parked, path)
  } else {
    move(path, parked)
    move(evil, path)
    isOn.add(flip)
  }
  count++
}

/** What lies nowhere, or behind another flip, stays there. */
function move(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch {}
}
