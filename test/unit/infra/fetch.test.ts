import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FetchTooLarge, fetchBlobs, fetchTrees, type Remote } from '#infra/git/fetch.ts'
import { GitError } from '#infra/git/process.ts'
import { type GitView, openScratch } from '#infra/git/view.ts'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'

let repositories: TestRepositories
let repository: TestRepository
let github: FakeGitHub
let remote: Remote
let scratch: GitView
const signal = new AbortController().signal

beforeAll(async () => {
  repositories = await createRepositories()
  repository = await repositories.create('acme', 'tools')
  github = await startFakeGitHub({ root: repositories.root })
  remote = { url: `${github.origins.web}/acme/tools.git`, authorization: null }
  scratch = await openScratch()
})

afterAll(async () => {
  await scratch.remove()
  await github.close()
  await repositories.remove()
})

test('a pack that is larger than git may write is refused as too large', async () => {
  // Bytes that do not compress, the same in every run.
  const noise = Buffer.concat(Array.from({ length: 20_000 }, (_, index) => createHash('sha256').update(`${index}`).digest()))
  const commit = await repository.commit({ 'noise.md': noise })
  const options = { gitDir: scratch.gitDir, remote, signal }
  await fetchTrees(options, commit)
  const wanted = [await repository.oidAt(commit, 'noise.md')]
  const small = { cpuSeconds: 60, fileBytes: 100_000 }
  await expect(fetchBlobs({ ...options, resources: small }, wanted)).rejects.toThrow(FetchTooLarge)
  await fetchBlobs(options, wanted)
})

test('what takes longer of a processor than it may is refused as too large', async () => {
  const zeros = await repository.writeZeroBlob(2 ** 31)
  const commit = await repository.commit({ 'zeros.md': { blob: zeros } })
  const options = { gitDir: scratch.gitDir, remote, signal, resources: { cpuSeconds: 1, fileBytes: 2 ** 30 } }
  await fetchTrees(options, commit)
  await expect(fetchBlobs(options, [zeros])).rejects.toThrow(FetchTooLarge)
})

test('git that is told to end takes the processes with it that it started', async () => {
  const commit = await repository.commit({ a: 'a' })
  const stop = new AbortController()
  github.faults.add({ stall: true, match: { host: 'web' } })
  const fetching = fetchTrees({ gitDir: scratch.gitDir, remote, signal: stop.signal }, commit)
  while (helpers().length === 0) await new Promise(resolve => setTimeout(resolve, 20))
  stop.abort()
  await expect(fetching).rejects.toBeInstanceOf(GitError)
  expect(helpers()).toEqual([])
})

/** The processes that talk to the stand-in for git. */
function helpers(): string[] {
  const lines = execFileSync('ps', ['-eo', 'stat=,args='], { encoding: 'utf8' }).split('\n')
  return lines.filter(line => line.includes('remote-http') && line.includes(github.origins.web) && !line.startsWith('Z'))
}
