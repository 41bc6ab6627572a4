import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prepareExampleRepositories } from '#infra/local/example.ts'
import { startFakeGitHub } from './fake-github/server.ts'

/** The reference repository at GitHub's stand-in: `/gh/mountglass/handbook`, the same commit as `/local/mountglass/handbook`. */
export interface Reference {
  gitDir: string
  /** What a service is started with to open it there. */
  settings: Record<string, string>
  /** @throws Error when the stand-in answered anything as GitHub would not */
  close(): Promise<void>
}

const SOURCE = fileURLToPath(new URL('../../examples/handbook', import.meta.url))

export async function serveReference(): Promise<Reference> {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-reference-'))
  const root = await prepareExampleRepositories(SOURCE, folder)
  const github = await startFakeGitHub({ root })
  const token = github.personalToken(github.user('reader'), [])
  return {
    gitDir: join(root, 'mountglass', 'handbook.git'),
    settings: github.settings({ token }),
    async close() {
      await github.close()
      await rm(folder, { recursive: true, force: true })
      if (github.mistakes.length > 0) throw new Error(github.mistakes.join('\n'))
    },
  }
}
