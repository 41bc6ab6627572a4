import { afterAll, beforeAll } from 'vitest'
import { index } from '#test/support/indexed.ts'
import { createRepositories, type TestFile, type TestRepositories, type TestRepository } from '#test/support/repository.ts'

export let repositories: TestRepositories
let made = 0

/** Hooks of a test file that uses this: a root of repositories of its own. */
export function useRepositories(): void {
  beforeAll(async () => {
    repositories = await createRepositories()
  })
  afterAll(() => repositories.remove())
}

export const MIT = `MIT License

Copyright (c) 2026 Someone

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

/** A `SKILL.md`; `more` are further lines of its front matter. */
export const skill = (name: string, body = 'Do it.\n', more = '') =>
  `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n${body}`

export function newRepository(): Promise<TestRepository> {
  return repositories.create('acme', `r${made++}`)
}

/** Indexes the files as a repository of their own, with the license MIT unless they say otherwise. */
export async function indexFiles(files: Record<string, TestFile>, change = {}) {
  const repository = await newRepository()
  const commit = await repository.commit({ LICENSE: MIT, ...files })
  return index(repository, commit, repositories.root, change)
}
