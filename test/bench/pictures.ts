import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { WORD_LANGUAGES } from '#api/pictures/card-words.ts'
import { ensureBuilt } from '#test/site/support/built-site.ts'
import { type Service, startService } from '#test/support/service.ts'
import { printTable, spreadOf } from './measure.ts'
import type { BenchRepository } from './repositories.ts'

const CARDS = 200
const LATIN = ['de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'tr']
const HAN = ['ja', 'ko', 'zh']
const LOOK_MS = 20

/** What badges and cards cost over HTTP, and what memory many cards at once take, of the service and of the process that draws. */
export async function measurePictures(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  await ensureBuilt()
  const service = await startService({
    MOUNTGLASS_GITHUB: 'off',
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_STORE: `disk:${join(root, 'pictures-store')}`,
    MOUNTGLASS_LOG: 'warn',
  })
  try {
    const { owner, name } = repositories.find(one => one.name === 'superpowers') ?? (repositories[0] as BenchRepository)
    const address = `/local/${owner}/${name}`
    const { index } = await service.get('mounts', address)
    const skills = index.status === 'ready' ? index.skills.map(({ path }) => path) : []
    const cardOf = (turn: number, languages: readonly string[]) =>
      `/social${address}?skill=${encodeURIComponent(skills[turn % skills.length] ?? '')}&lang=${languages[Math.floor(turn / skills.length) % languages.length]}`
    const get = (path: string) => fetchWhole(service, path)

    await get(`/social${address}?lang=en`)
    const latin = await spreadOf(Math.min(100, skills.length * LATIN.length), turn => get(cardOf(turn, LATIN)))
    // One after another: each loads fonts that no card before it had, and waits for none of the others.
    const first: number[] = []
    for (const lang of HAN) first.push((await spreadOf(1, () => get(`/social${address}?lang=${lang}`))).p50)
    const kept = await spreadOf(300, () => get(`/social${address}?lang=en`))
    const badge = await spreadOf(300, () => get(`/badge${address}`))
    const peak = watchMemory(service)
    const startedAt = performance.now()
    const others = WORD_LANGUAGES.filter(lang => !LATIN.includes(lang))
    const answers = await Promise.all(Array.from({ length: CARDS }, (_, turn) => get(cardOf(turn, others))))
    const seconds = (performance.now() - startedAt) / 1000
    const { own, drawing } = await peak()
    const row = (what: string, value: number, target: number, unit: string) => ({
      what,
      [unit]: value,
      target: `<= ${target}${value > target ? ': MISSED' : ''}`,
    })
    printTable('Badges and cards over HTTP, one after another', [
      row('badge, p50', badge.p50, 2, 'ms'),
      row('card that was drawn before, p50', kept.p50, 3, 'ms'),
      row('new card, p50', latin.p50, 20, 'ms'),
      row('first card in Han characters, slowest of three', Math.max(...first), 150, 'ms'),
    ])
    printTable(`${CARDS} different cards at once`, [
      {
        seconds,
        failed: answers.filter(status => status !== 200).length,
        'service MB': own,
        'drawing MB': drawing,
        'together MB': own + drawing,
        target: `<= 350${own + drawing > 350 ? ': MISSED' : ''}`,
      },
    ])
  } finally {
    await service.stop()
  }
}

async function fetchWhole({ baseUrl }: Service, path: string): Promise<number> {
  const answer = await fetch(baseUrl + path)
  await answer.arrayBuffer()
  return answer.status
}

/** @returns the highest resident memory since then, in megabytes: of the service, and of the processes that decode and draw */
function watchMemory({ process: { pid = 0 } }: Service): () => Promise<{ own: number; drawing: number }> {
  const highest = { own: 0, drawing: 0, together: 0 }
  const look = async () => {
    const own = await residentMegabytes(pid)
    const children = await Promise.all((await picturesProcesses(pid)).map(residentMegabytes))
    const drawing = children.reduce((sum, one) => sum + one, 0)
    if (own + drawing > highest.together) Object.assign(highest, { own, drawing, together: own + drawing })
  }
  const timer = setInterval(() => void look(), LOOK_MS)
  return async () => {
    clearInterval(timer)
    await look()
    return highest
  }
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1000
}

/** Children of the service that run programs of `api/pictures`. */
async function picturesProcesses(parent: number): Promise<number[]> {
  const children: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const [stat, command] = await Promise.all(
      ['stat', 'cmdline'].map(file => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '')),
    )
    if (stat?.replace(/^.*\)/s, '').trim().split(' ')[1] === String(parent) && command?.includes('api/pictures/'))
      children.push(Number(name))
  }
  return children
}
