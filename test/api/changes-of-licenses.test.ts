import { expect, test } from 'vitest'
import type { ChangesAnswer } from '#core/contract/changes.ts'
import { testApp } from '#test/support/test-app.ts'

type Ready = Extract<ChangesAnswer, { items: unknown }>

test('documents that a license closes and opens are told as such', async () => {
  const closed = 'All rights reserved.\n'
  const files = {
    'package.json': '{"license":"MIT"}\n',
    'closes/a.md': '# A\n\nText.\n',
    'opens/b.md': '# B\n\nText.\n',
    'opens/LICENSE': closed,
  }
  const licensed = await testApp({ 'acme/tools': files })
  const repository = licensed.repository('acme/tools')
  await repository.tag('v1', licensed.commitOf('acme/tools'))
  await repository.commit({ 'closes/LICENSE': closed, 'opens/LICENSE': null })
  for (const address of ['/local/acme/tools', '/local/acme/tools@v1']) await licensed.open(address)
  const { items } = (await licensed.ask('changes', '/local/acme/tools', { from: 'v1' })) as Ready
  expect(items.map(item => ('facts' in item ? [item.path, item.parts, item.facts] : item))).toEqual([
    ['closes/a.md', ['body', 'metadata', 'license', 'serving'], { serving: 'closed' }],
    ['opens/b.md', ['body', 'metadata', 'license', 'serving'], { serving: 'opened' }],
  ])
  await licensed.close()
})
