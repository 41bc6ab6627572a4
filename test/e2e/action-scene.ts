import { makeAction } from '#test/support/action.ts'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { pushPayload } from '#test/support/fake-github/webhooks.ts'
import { createRepositories } from '#test/support/repository.ts'
import { startService } from '#test/support/service.ts'

/** The Action, repositories at the stand-in of GitHub, and a deployment that serves them. */
export async function openActionScene() {
  const [action, repositories] = await Promise.all([makeAction(), createRepositories()])
  const github = await startFakeGitHub({ root: repositories.root })
  const service = await startService(github.settings())

  return {
    action,
    repositories,
    github,
    service,

    /** A repository `acme/<name>` of one commit, and what a workflow in it is told. */
    async createTools(name: string) {
      const tools = await repositories.create('acme', name)
      const commit: string = await tools.commit({
        'package.json': '{"license":"MIT"}\n',
        'docs/guide.md': '# Guide\n',
        'skills/pdf/SKILL.md': '---\nname: pdf\ndescription: Reads PDF files\n---\nRead it.\n',
        'broken/SKILLSET.md': '---\nname: [\n---\n',
      })
      const shown = await github.shown('acme', name)
      return {
        tools,
        commit,
        /** The stand-in's side of it, whose fields say what it shows. */
        shown,
        variables: (sha: string, more: Record<string, string> = {}): Record<string, string> => ({
          GITHUB_REPOSITORY: `acme/${name}`,
          GITHUB_REPOSITORY_ID: String(shown.id),
          GITHUB_SHA: sha,
          GITHUB_REF: 'refs/heads/main',
          GITHUB_EVENT_NAME: 'push',
          GITHUB_API_URL: github.origins.api,
          ...more,
        }),
        push: (after: string) => pushPayload(github.scene, shown, { ref: 'refs/heads/main', before: after, after }, null),
      }
    },

    async close() {
      await service.stop()
      await github.close()
      await repositories.remove()
      await action.remove()
    },
  }
}
