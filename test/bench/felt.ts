import { join } from 'node:path'
import { ensureBuilt } from '#test/site/support/built-site.ts'
import { type Service, startService } from '#test/support/service.ts'
import { choosePaths } from './calls.ts'
import { printTable } from './measure.ts'
import { type Question, restQuestion, timesOf, toolQuestion } from './one-caller.ts'
import { type BenchRepository, generate } from './repositories.ts'

/** What a person or an agent waits for, in milliseconds: p50 of one caller, warm. */
const TARGETS_MS: Readonly<Record<string, number>> = {
  mount: 1,
  skill: 1,
  find: 5,
  'page, rendered': 10,
  'page, kept': 3,
  'front page, rendered': 10,
  'front page, kept': 3,
  'tool load_skill': 3,
  'tool search_repo': 3,
}
const SUBJECTS = ['files-1000', 'files-15000', 'agents', 'superpowers']
const QUERIES = [
  'writing tests for an agent',
  'review a pull request',
  'deploy to the cloud',
  'database migrations',
  'how do I debug a failing build',
]

/** Rows of the front page. */
const FRONT_ROWS = 60

/** Prints what one caller waits for, each beside its target. */
export async function measureFelt(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  await ensureBuilt()
  const rows: Record<string, string | number>[] = []
  await withService(root, async service => {
    for (const { owner, name } of repositories.filter(repository => SUBJECTS.includes(repository.name))) {
      const address = `/local/${owner}/${name}`
      const { skill } = await choosePaths(service, address)
      rows.push(...(await rowsOf(service, `${owner}/${name}`, questionsOf(address, skill))))
    }
  })
  const many = join(root, 'front')
  const listed = Array.from({ length: FRONT_ROWS }, (_, index) => generate(many, `front-${index}`, 40))
  await withService(many, async service => {
    for (const { owner, name } of listed) await choosePaths(service, `/local/${owner}/${name}`)
    rows.push(...(await rowsOf(service, `${FRONT_ROWS} repositories`, FRONT_PAGE)))
  })
  printTable('What one caller waits for', rows)
}

async function withService(root: string, measure: (service: Service) => Promise<void>): Promise<void> {
  const service = await startService({
    MOUNTGLASS_GITHUB: 'off',
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_STORE: `disk:${join(root, 'felt-store')}`,
    MOUNTGLASS_LOG: 'warn',
  })
  try {
    await measure(service)
  } finally {
    await service.stop()
  }
}

async function rowsOf(service: Service, subject: string, questions: readonly Question[]) {
  const times = await timesOf(service.baseUrl, questions)
  return questions.map(({ name }, index) => {
    const target = TARGETS_MS[name] ?? Number.NaN
    const { p50 = Number.NaN, p99 = Number.NaN } = times[index] ?? {}
    return {
      repository: subject,
      asked: name,
      'p50 ms': p50,
      'p99 ms': p99,
      target: `<= ${target} ms${p50 > target ? ': MISSED' : ''}`,
    }
  })
}

// A page is kept by its URL.
const FRONT_PAGE: Question[] = [
  { name: 'front page, kept', path: '/', message: null },
  { name: 'front page, rendered', path: call => `/?turn=${call}`, message: null },
]

function questionsOf(address: string, skill: string | undefined): Question[] {
  const queryOf = (call: number) => ({ query: QUERIES[call % QUERIES.length] ?? '' })
  const page = skill === undefined ? `${address}?view=find` : `${address}?view=skill&path=${encodeURIComponent(skill)}`
  const ofSkill: Question[] =
    skill === undefined
      ? []
      : [
          { ...restQuestion(address, 'skills', { path: skill }), name: 'skill' },
          { ...toolQuestion(address, 'load_skill', { path: skill }), name: 'tool load_skill' },
        ]
  return [
    { ...restQuestion(address, 'mounts', {}), name: 'mount' },
    ...ofSkill,
    { name: 'find', path: call => `/api/v1/find${address}?${new URLSearchParams(queryOf(call))}`, message: null },
    { ...toolQuestion(address, 'search_repo', queryOf), name: 'tool search_repo' },
    { name: 'page, kept', path: page, message: null },
    { name: 'page, rendered', path: call => `${page}&turn=${call}`, message: null },
  ]
}
