import { type FakeGitHub, startFakeGitHub } from './fake-github/server.ts'
import { createRepositories, type TestRepositories, type TestRepository } from './repository.ts'
import { takeTemporaryFolder } from './temporary-folder.ts'

/** Repositories that the stand-in of GitHub serves. */
export interface ServedRepositories {
  repositories: TestRepositories
  github: FakeGitHub
  /** Where this process makes its temporary files: whatever is in there was left behind. */
  temporary: string
  /** One of `acme`, of another name each time. */
  create(): Promise<TestRepository>
  close(): Promise<void>
}

export async function serveRepositories(): Promise<ServedRepositories> {
  const repositories = await createRepositories()
  const temporary = await takeTemporaryFolder()
  const github = await startFakeGitHub({ root: repositories.root })
  let created = 0
  return {
    repositories,
    github,
    temporary: temporary.path,
    create: () => repositories.create('acme', `tools-${++created}`),
    async close() {
      await github.close()
      await temporary.giveBack()
      await repositories.remove()
    },
  }
}
