/**
 * Writes into the stores of the settings until it is killed, and prints each write once it is acknowledged:
 *
 *   object <key>
 *   document <turn>
 *   counted
 *
 * `writer-program.ts <name>`
 */

import { writeSync } from 'node:fs'
import type { WriteOutcome } from '#core/ports/state-store.ts'
import { parseSharedInfraSettings } from '#infra/infra-settings.ts'
import { openStores } from '#infra/stores.ts'
import { bytesOf } from '../support/store-values.ts'
import { count } from './counter.ts'
import { entryKey, objectKey } from './written-keys.ts'

const [name = ''] = process.argv.slice(2)
process.stdin.resume().once('close', () => process.exit())

const { blobs, states } = await openStores(parseSharedInfraSettings(process.env))
let etag: string | null = null
for (let turn = 1; ; turn++) {
  const key = objectKey(name, turn)
  if ((await blobs.create(key, bytesOf(key))) === 'exists') throw new Error(`somebody else wrote ${key}`)
  print(`object ${key}`)
  const written: WriteOutcome =
    etag === null ? await states.create(entryKey(name), turn) : await states.replace(entryKey(name), turn, etag)
  if (written.status === 'conflict') throw new Error(`somebody else wrote the document of ${name}`)
  etag = written.etag
  print(`document ${turn}`)
  await count(states, name)
  print('counted')
}

/** Goes to the descriptor at once: a line that waits would be lost with a process that is killed. */
function print(line: string): void {
  writeSync(1, `${line}\n`)
}
