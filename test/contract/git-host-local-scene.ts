import { join } from 'node:path'
import { openLocalHost } from '#infra/local/host.ts'
import { createRepositories } from '#test/support/repository.ts'
import { takeTemporaryFolder } from '#test/support/temporary-folder.ts'

export const BASE_URL = 'https://mountglass.example'

/** The host of a folder of repositories. */
export async function openLocalHostScene() {
  const [repositories, outside] = await Promise.all([createRepositories(), createRepositories()])
  const temporary = await takeTemporaryFolder()
  const host = await openLocalHost({ root: repositories.root, baseUrl: BASE_URL })
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

    async close() {
      await host.close()
      await temporary.giveBack()
      await Promise.all([repositories.remove(), outside.remove()])
    },
  }
}

/** The text of a raw file. */
export async function textOf(bytes: AsyncIterable<Uint8Array> | undefined): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes ?? []) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
