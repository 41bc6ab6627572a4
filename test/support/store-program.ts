/** What the store tests run in processes of their own. A line is printed once the step before it was acknowledged. */

import { existsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { readOrCreateSecret } from '#infra/disk/secret-file.ts'
import { openDiskStateStore } from '#infra/disk/state-store.ts'

const tasks: Record<string, (args: string[]) => Promise<void>> = {
  hold,
  increment,
  refused,
  secret,
}

const [task = '', ...args] = process.argv.slice(2)
const run = tasks[task]
if (!run) throw new Error(`no task ${task}`)
await run(args)

// Straight to the descriptor: a buffered line would be lost with a killed process.
function print(line: string): void {
  writeSync(1, `${line}\n`)
}

/** `<file> <end>`: holds the lock that every write needs, until there is a file at `end`. */
async function hold([file = '', end = '']: string[]): Promise<void> {
  const database = new DatabaseSync(file, { timeout: 60_000 })
  database.exec('BEGIN IMMEDIATE')
  print('held')
  while (!existsSync(end)) await sleep(5)
  database.exec('COMMIT')
  database.close()
}

/** `<file> <key> <times>` */
async function increment([file = '', key = '', times]: string[]): Promise<void> {
  const states = await openDiskStateStore(file)
  for (let done = 0; done < Number(times); ) {
    const doc = await states.read(key)
    const written = doc ? await states.replace(key, Number(doc.value) + 1, doc.etag) : await states.create(key, 1)
    if (written.status === 'written') done++
  }
  await states.close()
}

/** `<folder>`: under a limit of the system, prints the code that a write too much throws. */
async function refused([folder = '']: string[]): Promise<void> {
  const blobs = await openDiskBlobStore(join(folder, 'blobs'))
  const states = await openDiskStateStore(join(folder, 'docs.sqlite'))
  const doc = await states.read('kept')
  const tooMuch = 'x'.repeat(4_000_000)
  for (const attempt of [
    () => blobs.create('large', Buffer.from(tooMuch)),
    () => states.create('large', tooMuch),
    () => states.replace('kept', tooMuch, doc?.etag ?? ''),
  ]) {
    print(await attempt().then(JSON.stringify, (error: unknown) => (error instanceof Error ? 'refused' : 'threw no error')))
  }
  const kept = await blobs.read('kept')
  print(kept ? Buffer.from(kept.bytes).toString() : 'gone')
  print(JSON.stringify((await states.read('kept'))?.value))
}

/** `<file>`: prints the secret, of which this process would make its own. */
async function secret([file = '']: string[]): Promise<void> {
  print(await readOrCreateSecret(file, () => `secret of ${process.pid}`))
}
