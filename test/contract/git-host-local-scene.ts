import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { HostRepository } from '#core/ports/git-host.ts'
import { type LocalHostOptions, openLocalHost } from '#infra/local/host.ts'
import { createRepositories } from '#test/support/repository.ts'
import { takeTemporaryFolder } from '#test/support/temporary-folder.ts'

export const BASE_URL = 'https://mountglass.example'

/** A reader of raw files whom no other reader evicts. */
export const TEST_READER = {
  client: 'test',
  evict: () => {
    throw new Error('the reader was evicted')
  },
}

/** The host of a folder of repositories. */
export async function openLocalHostScene(options: Pick<LocalHostOptions, 'rawFileBytes'> = {}) {
  const [repositories, outside] = await Promise.all([createRepositories(), createRepositories()])
  const temporary = await takeTemporaryFolder()
  const host = await openLocalHost({ ...options, root: repositories.root, baseUrl: BASE_URL })
  let created = 0
  const nextName = () => `tools-${++created}`

  return {
    repositories,
    /** Repositories and files that no request may reach. */
    outside,
    /** Where this process makes its temporary files: whatever is in there was left behind. */
    temporary: temporary.path,
    host,
    nextName,
    create: (layout: 'bare' | 'normal' = 'bare') => repositories.create('acme', nextName(), { layout }),
    inRoot: (...path: string[]) => join(repositories.root, ...path),

    /** What the host answers about a repository and its default branch. */
    async look(owner: string, name: string) {
      const answer = await host.repository(owner, name)
      return answer.status === 'ok' ? host.resolve(answer.value, null) : answer
    },

    /** The text of a raw file; `null` when there is none. */
    async rawText(described: HostRepository, commit: string, path: string): Promise<string | null> {
      const sent = new AbortController()
      try {
        const file = await host.readRawFile(described, commit, path, { ...TEST_READER, signal: sent.signal })
        if (file === null) return null
        return await text(await file.read({ firstByte: 0, lastByte: file.sizeBytes - 1 }))
      } finally {
        sent.abort()
      }
    },

    async close() {
      await host.close()
      await temporary.giveBack()
      await Promise.all([repositories.remove(), outside.remove()])
    },
  }
}
