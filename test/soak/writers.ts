import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Infra } from '#infra/open.ts'
import { createRandom } from '../support/random.ts'
import { bytesOf } from '../support/store-values.ts'
import { type Counted, findMiscounts } from './counter.ts'
import type { Place } from './place.ts'
import { type AtEnd, sideBySide, startProgram } from './program.ts'
import { type SoakReport, secondsSince } from './report.ts'
import { entryKey, OBJECTS } from './written-keys.ts'

export interface WritersOptions {
  writers: number
  /** How many write at the same time. */
  atOnce: number
  /** The longest that one may write before it is killed. */
  milliseconds: number
  seed: number
}

export interface WritersReport extends SoakReport {
  kills: number
  acknowledged: number
  objects: number
  corrupt: number
  lost: number
}

const PROGRAM = fileURLToPath(new URL('./writer-program.ts', import.meta.url))

/** Some are killed before they wrote anything, while they open the stores. */
const EARLY = 0.15
/** A writer is killed after it printed one of these, chosen at random. So some of each kind of write is there, however slow the machine is. */
const LAST_STEPS = ['object ', 'document ', 'counted']

/** Kills processes while they write, and looks at what is there then. */
export async function runWriters(place: Place, options: WritersOptions, atEnd: AtEnd): Promise<WritersReport> {
  const startedAt = performance.now()
  const random = createRandom('writers', options.seed)
  const names = Array.from({ length: options.writers }, (_, index) => `writer-${index}`)
  const said = new Map<string, readonly string[]>()
  const errors: string[] = []
  const writeAndDie = async (name: string) => {
    const writer = startProgram(PROGRAM, { args: [name], env: place.env }, atEnd)
    const last = LAST_STEPS[Math.floor(random() * LAST_STEPS.length)] ?? ''
    if (random() > EARLY) await writer.said(line => line.startsWith(last))
    await sleep(random() * options.milliseconds)
    await writer.kill()
    said.set(name, writer.lines)
    if (writer.errors !== '') errors.push(`${name}: ${writer.errors}`)
  }
  await sideBySide(names, writeAndDie, options.atOnce)
  const seen = await lookAtWrites(await place.open(), said)
  return {
    ...seen,
    problems: [...seen.problems, ...errors, ...(await place.findDamage())],
    kills: said.size,
    seconds: secondsSince(startedAt),
  }
}

/** @param said what each writer printed, by its name */
export async function lookAtWrites(
  { blobs, states }: Pick<Infra, 'blobs' | 'states'>,
  said: ReadonlyMap<string, readonly string[]>,
): Promise<Omit<WritersReport, 'kills' | 'seconds'>> {
  const keys = await blobs.list(OBJECTS)
  let corrupt = 0
  for (const key of keys) {
    const object = await blobs.read(key)
    if (!Buffer.from(bytesOf(key)).equals(object?.bytes ?? new Uint8Array())) corrupt++
  }
  const there = new Set(keys)
  const problems: string[] = []
  const counted: Counted[] = []
  let lost = 0
  for (const [name, lines] of said) {
    const objects = lines.filter(line => line.startsWith('object ')).map(line => line.slice('object '.length))
    lost += objects.filter(key => !there.has(key)).length
    const turns = lines.filter(line => line.startsWith('document ')).length
    const value = Number((await states.read(entryKey(name)))?.value ?? 0)
    // The last one may have been written without a word.
    if (value < turns) lost++
    else if (value > turns + 1) problems.push(`${name} wrote ${turns} versions of its document, and it says ${value}`)
    counted.push({ name, acknowledged: lines.filter(line => line === 'counted').length })
  }
  if (corrupt > 0) problems.push(`${corrupt} objects are not what was written`)
  if (lost > 0) problems.push(`${lost} acknowledged writes are lost`)
  problems.push(...(await findMiscounts(states, counted)))
  return { acknowledged: [...said.values()].flat().length, objects: keys.length, corrupt, lost, problems }
}
