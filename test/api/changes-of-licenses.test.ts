import { expect, test } from 'vitest'
import type { ChangesAnswer } from '#core/contract/changes.ts'
import { testApp } from '#test/support/test-app.ts'

type Ready = Extract<ChangesAnswer, { items: unknown }>

test('a document that a license closes or opens is reported as such', async () => {
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

test('texts that a license withholds are counted as not compared', async () => {
  const files = (text: string) => ({
    'package.json': '{"license":"MIT"}\n',
    'open.md': '# Open\n',
    'closed/LICENSE': 'All rights reserved.\n',
    'closed/page.md': `# Page\n\n${text}\n`,
    'closed/one/SKILL.md': `---\nname: one\ndescription: Does one thing.\n---\n${text}\n`,
    'closed/two/SKILL.md': '---\nname: two\ndescription: Does two things.\n---\nText.\n',
  })
  const licensed = await testApp({ 'acme/tools': files('Before.') })
  const repository = licensed.repository('acme/tools')
  await repository.tag('v1', licensed.commitOf('acme/tools'))
  await repository.commit(files('After.'))
  for (const address of ['/local/acme/tools', '/local/acme/tools@v1']) await licensed.open(address)
  const at = async (path: string) => {
    const { items, notCompared } = (await licensed.ask('changes', '/local/acme/tools', { from: 'v1', path })) as Ready
    return [items.length, notCompared]
  }
  expect(await at('')).toEqual([0, { skills: 2, documents: 1 }])
  expect(await at('closed/one')).toEqual([0, { skills: 1, documents: 0 }])
  await licensed.close()
})
