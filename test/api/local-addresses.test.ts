import { expect, test } from 'vitest'
import type { Deps } from '#api/deps.ts'
import { REFERENCE_REPOSITORY } from '#api/operator/operator-content.ts'
import { listLately } from '#cli/serve.ts'
import { testApp } from '#test/support/test-app.ts'

test('the handbook is listed once among the local addresses, even if the served folder contains it', async () => {
  const opened: Deps[] = []
  const keep = (deps: Deps) => {
    opened.push(deps)
    return deps
  }
  const files = { 'README.md': '# Read me\n' }
  const app = await testApp({ 'mountglass/handbook': files, 'acme/tools': files }, { deps: keep })
  try {
    const [deps] = opened as [Deps]
    const local = deps.hosts.find(({ segment }) => segment === 'local') as unknown as Parameters<typeof listLately>[0]
    const addresses = await listLately(local, deps, { warn: message => expect.fail(String(message)) })()
    expect([...addresses].sort()).toEqual(['/local/acme/tools', REFERENCE_REPOSITORY])
  } finally {
    await app.close()
  }
})
