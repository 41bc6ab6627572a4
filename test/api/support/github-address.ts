import type { Answer } from '#test/support/check-answer.ts'
import type { TestApp } from '#test/support/test-app.ts'

export const SKILL = '---\nname: one\ndescription: The first.\n---\nDo it.\n'
export const FILES = {
  'package.json': '{"license":"MIT"}\n',
  'skills/one/SKILL.md': SKILL,
  'skills/one/logo.png': new Uint8Array(3_000),
  'docs/guide.md': '# Guide\n\nSee [the code](../src/main.ts).\n',
  'src/main.ts': 'export {}\n',
}
/** Of a repository with these files. */
export const ADDRESS = '/gh/acme/tools'

/** Mounts of GitHub at the service of the test at hand. */
export function githubMounts(app: () => TestApp) {
  const mount = (address = ADDRESS): Promise<Answer> => app().get(`/api/v1/mounts${address}`)
  return {
    mount,
    /** Has the host tell what the token may see: until then it might be anything, and git looks first, as nobody. */
    async learnToken(): Promise<void> {
      await mount('/gh/acme/empty')
      app().github.log.clear()
    },
  }
}
