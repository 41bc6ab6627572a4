import { afterEach, beforeEach, expect } from 'vitest'
import type { Answer } from '#test/support/check-answer.ts'
import { type Delivery, type DeliveryOptions, pushPayload, signDelivery } from '#test/support/fake-github/webhooks.ts'
import type { App, Repository } from '#test/support/fake-github/world.ts'
import { type TestApp, testApp, WEBHOOK_SECRET } from '#test/support/test-app.ts'

export const ADDRESS = '/gh/acme/tools'
export const FILES = { 'package.json': '{"license":"MIT"}\n', 'docs/guide.md': '# Guide\n\nOne.\n' }

export let app: TestApp
export let hookApp: App
export let repository: Repository

/** Hooks of a test file that uses this: an app of its own for each test. */
export function useHookScene(): void {
  beforeEach(async () => {
    app = await testApp({ 'acme/tools': FILES, 'acme/other': FILES }, { github: { withToken: true } })
    hookApp = app.github.app('hooks', { owner: app.github.organization('acme'), webhookSecret: WEBHOOK_SECRET })
    repository = await app.github.shown('acme', 'tools')
  })
  afterEach(async () => {
    expect(app.github.mistakes).toEqual([])
    await app.close()
  })
}

export const mount = (address = ADDRESS): Promise<Answer> => app.get(`/api/v1/mounts${address}`)

export function post({ headers, body }: Delivery, more: Record<string, string> = {}): Promise<Answer> {
  return app.get('/hooks/github', { method: 'POST', headers: { ...headers, ...more }, payload: body })
}

export async function tell(event: string, payload: object, options: DeliveryOptions = {}): Promise<Answer> {
  return post(signDelivery(hookApp, event, payload as Parameters<typeof signDelivery>[2], options))
}

/** Commits to a branch, and has the host tell of it. */
export async function push(files: Record<string, string>, options: { branch?: string; id?: string } = {}) {
  const { branch = 'main', ...delivery } = options
  const before = app.commitOf('acme/tools')
  const after = await app.repository('acme/tools').commit(files, { branch })
  const payload = await pushPayload(app.github.scene, repository, { ref: `refs/heads/${branch}`, before, after }, null)
  const answer = await tell('push', payload, delivery)
  return { after, payload, answer }
}
