import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { printTable } from '#test/bench/measure.ts'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { startService } from '#test/support/service.ts'
import { keepCompiledSources } from '../../scripts/setup/runtime.mjs'
import { LARGE_SIZES, makeAttacked, visitFirst } from './attacked.ts'
import { flipLinks } from './flip-links.ts'
import { askForForged } from './forged-packs.ts'
import { measureHeld } from './held-resources.ts'
import { excesses, serviceAttacks } from './service-attacks.ts'

/**
 * `npm run attack`: attacks a service on this machine and prints what it showed and what it held. Ends with 1 when something foreign was
 * shown or a bound was exceeded. `--only <part>` for one part, again for another; `--seconds` for each attack. How long visitors wait
 * meanwhile is measured by `npm run bench -- --only fairness`.
 */
const { values: options } = parseArgs({
  options: { only: { type: 'string', multiple: true }, seconds: { type: 'string', default: '20' } },
})
const seconds = Number(options.seconds)
const LONG_REFS = 21_000
const FLIP_SECONDS = 60
const FLIP_REQUESTS = 5_000

keepCompiledSources(dirname(dirname(import.meta.dirname)))

/** Each resolves with what went wrong. */
const PARTS: Readonly<Record<string, () => Promise<string[]>>> = {
  links: attackLinks,
  packs: attackPacks,
  service: attackService,
}

const parts = options.only ?? Object.keys(PARTS)
const unknown = parts.filter(part => !Object.hasOwn(PARTS, part))
if (unknown.length > 0) throw new Error(`no part ${unknown.join(', ')}: there are ${Object.keys(PARTS).join(', ')}`)
const faults: string[] = []
for (const part of parts) faults.push(...((await PARTS[part]?.()) ?? []))
process.stdout.write(faults.length === 0 ? '\nall bounds held\n' : `\nnot held:\n${faults.join('\n')}\n`)
process.exitCode = faults.length === 0 ? 0 : 1

async function attackLinks(): Promise<string[]> {
  const { leaks, statuses, ...report } = await flipLinks({ seconds: FLIP_SECONDS, requests: FLIP_REQUESTS })
  printTable(`Links of local repositories that flip into foreign ones, ${FLIP_SECONDS} s`, [{ ...report, leaks: leaks.length }])
  printTable('Answers by status', [statuses])
  return [...leaks, ...(statuses[500] === undefined ? [] : [`flipping links: ${statuses[500]} answers of 500`])]
}

async function attackPacks(): Promise<string[]> {
  const { answers, leaks } = await askForForged()
  printTable('Packs that list other objects under an id: answers', [answers])
  return leaks
}

async function attackService(): Promise<string[]> {
  const root = await mkdtemp(join(tmpdir(), 'mountglass-attack-'))
  const attacked = makeAttacked(root, LARGE_SIZES)
  const github = await startFakeGitHub({ root })
  const service = await startService({
    MOUNTGLASS_GITHUB_URL: github.origins.web,
    MOUNTGLASS_GITHUB_API_URL: github.origins.api,
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_LOG: 'error',
  })
  try {
    await visitFirst(service, attacked)
    const faults: string[] = []
    const rows: Record<string, string | number>[] = []
    for (const attack of serviceAttacks(attacked, seconds, LONG_REFS)) {
      const held = await measureHeld(service, attack.start, attack.options)
      const exceeded = excesses(attack, held)
      faults.push(...exceeded.map(one => `${attack.name}: ${one}`))
      rows.push({
        attack: attack.name,
        requests: held.count,
        'MB before': held.before.megabytes,
        peak: held.peak.megabytes,
        'git MB': held.peak.gitMegabytes,
        'git processes': held.peak.gitProcesses,
        descriptors: held.peak.descriptors,
        'sockets after': held.after.sockets,
        bounds: exceeded.length === 0 ? 'held' : 'NOT HELD',
      })
    }
    printTable(`What one process holds under attack, ${seconds} s each`, rows)
    return faults
  } finally {
    await service.stop()
    await github.close()
    await rm(root, { recursive: true, force: true })
  }
}
