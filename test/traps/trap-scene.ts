import { afterAll, beforeAll } from 'vitest'
import type { TestFile } from '#test/support/repository.ts'
import { endpointUrl, type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT } from '../api/support/texts.ts'

export let app: TestApp
let made = 0
/** Hooks of a test file that uses this: an app of its own. */
export function useTrapScene(): void {
  beforeAll(async () => {
    app = await testApp({})
  })
  afterAll(() => app.close())
}

/** Indexes the files as a repository of their own, MIT unless they say otherwise; gives its address. */
export async function open(
  files: Record<string, TestFile>,
  prepare?: (repository: Awaited<ReturnType<TestApp['repositories']['create']>>, commit: string) => Promise<void>,
) {
  const repository = await app.repositories.create('acme', `trap${made++}`)
  const commit = await repository.commit({ LICENSE: MIT, ...files })
  await prepare?.(repository, commit)
  const address = `/local/acme/${repository.name}`
  await app.open(address)
  return address
}

export async function overviewOf(address: string) {
  const { index } = await app.ask('mounts', address)
  if (index.status !== 'ready') throw new Error(JSON.stringify(index))
  return index
}

export async function skillOf(address: string, path = 'a/SKILL.md') {
  return (await app.askReady('skills', address, { path })).skill
}

export async function codeOf(address: string, path: string): Promise<string> {
  const { status, json } = await app.get(endpointUrl('files', address, { path }))
  return status === 200 ? 'ok' : json.error.code
}

export const codes = (items: readonly { code: string }[]) => items.map(({ code }) => code)
