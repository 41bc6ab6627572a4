import { join } from 'node:path'
import { ensureBuilt } from '#test/site/support/built-site.ts'
import { startService } from '#test/support/service.ts'
import { choosePaths } from './calls.ts'
import { printTable } from './measure.ts'
import { type Question, restQuestion, timesOf, toolQuestion } from './one-caller.ts'
import type { BenchRepository } from './repositories.ts'

/** What a person or an agent waits for, in milliseconds: p50 of one caller, warm. */
const TARGETS_MS: Readonly<Record<string, number>> = {
  mount: 1,
  skill: 1,
  find: 5,
  'page, rendered': 10,
  'page, kept': 3,
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

/** Prints what one caller waits for, each beside its target. */
export async function measureFelt(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  await ensureBuilt()
  const service = await startService({
    MOUNTGLASS_GITHUB: 'off',
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_STORE: `disk:${join(root, 'felt-store')}`,
    MOUNTGLASS_LOG: 'warn',
  })
  const rows: Record<string, string | number>[] = []
  try {
    for (const { owner, name } of repositories.filter(repository => SUBJECTS.includes(repository.name))) {
      const address = `/local/${owner}/${name}`
      const { skill } = await choosePaths(service, address)
      const questions = questionsOf(address, skill)
      const times = await timesOf(service.baseUrl, questions)
      for (const [index, question] of questions.entries()) {
        const target = TARGETS_MS[question.name] ?? Number.NaN
        const { p50 = Number.NaN, p99 = Number.NaN } = times[index] ?? {}
        rows.push({
          repository: `${owner}/${name}`,
          asked: question.name,
          'p50 ms': p50,
          'p99 ms': p99,
          target: `<= ${target} ms${p50 > target ? ': MISSED' : ''}`,
        })
      }
    }
    printTable('What one caller waits for', rows)
  } finally {
    await service.stop()
  }
}

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
    // A page is kept by its URL.
    { name: 'page, rendered', path: call => `${page}&turn=${call}`, message: null },
  ]
}
