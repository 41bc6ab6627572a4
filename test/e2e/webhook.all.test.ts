import { expect, test } from 'vitest'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { pushPayload, repositoryPayload, signDelivery } from '#test/support/fake-github/webhooks.ts'
import { createRepositories } from '#test/support/repository.ts'
import { startService } from '#test/support/service.ts'
import { ensureBuilt } from '../site/support/built-site.ts'

test('a webhook takes effect at once: a push is indexed and shown, a new name redirects, and a private repository is missing', async () => {
  await ensureBuilt()
  const repositories = await createRepositories()
  const tools = await repositories.create('acme', 'tools')
  const before = await tools.commit({ 'package.json': '{"license":"MIT"}\n', 'docs/guide.md': '# One\n' })
  const github = await startFakeGitHub({ root: repositories.root })
  const app = github.app('hooks', { owner: github.organization('acme') })
  const repository = await github.shown('acme', 'tools')
  const service = await startService({
    ...github.settings(),
    MOUNTGLASS_GITHUB_WEBHOOK_SECRET: app.webhookSecret,
    MOUNTGLASS_LOG: 'info',
  })
  const tell = async (event: string, payload: Parameters<typeof signDelivery>[2]) => {
    const { headers, body } = signDelivery(app, event, payload)
    return (await fetch(`${service.baseUrl}/hooks/github`, { method: 'POST', headers, body })).status
  }
  const documents = async () => {
    const { commit, index } = await service.get('mounts', '/gh/acme/tools')
    return { commit, titles: index.status === 'ready' ? index.documents.map(({ title }) => title) : index.status }
  }
  const page = async (target: string) => {
    const { status, headers } = await fetch(service.baseUrl + target, { redirect: 'manual' })
    return { status, location: headers.get('location') }
  }
  try {
    expect(await documents()).toEqual({ commit: before, titles: ['One'] })
    const after = await tools.commit({ 'docs/guide.md': '# Two\n' })
    expect(await documents()).toEqual({ commit: before, titles: ['One'] })

    const push = { ref: 'refs/heads/main', before, after }
    expect(await tell('push', await pushPayload(github.scene, repository, push, null))).toBe(202)
    expect(await documents()).toEqual({ commit: after, titles: ['Two'] })

    expect(await page('/gh/acme/tools')).toMatchObject({ status: 200 })
    github.world.rename(repository, { name: 'kit' })
    const changes = { changes: { repository: { name: { from: 'tools' } } } }
    expect(await tell('repository', await repositoryPayload(github.scene, repository, 'renamed', null, changes))).toBe(202)
    expect(await page('/gh/acme/tools?view=browse')).toEqual({ status: 301, location: '/gh/acme/kit?view=browse' })
    expect(await page('/gh/acme/kit?view=browse')).toMatchObject({ status: 200 })

    const payload = await repositoryPayload(github.scene, repository, 'privatized', null)
    repository.visibility = 'private'
    expect(await tell('repository', payload)).toBe(202)
    expect(await service.getError('mounts', '/gh/acme/tools')).toEqual({ status: 404, code: 'mount.repo_not_found' })
    expect(await page('/gh/acme/tools?view=file&path=docs/guide.md')).toMatchObject({ status: 404 })
    expect(service.output()).not.toContain(app.webhookSecret)
    expect(github.mistakes).toEqual([])
  } finally {
    await service.stop()
    await github.close()
    await repositories.remove()
  }
})
