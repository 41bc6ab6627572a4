import { describe, expect, test } from 'vitest'
import { testApp } from '#test/support/test-app.ts'
import { getPicture } from './support/pictures.ts'

const MANIFEST = '---\nname: Handbook\ndescription: How we work.\n---\n'
const FILES = { LICENSE: 'MIT', 'SKILLSET.md': MANIFEST, 'a/SKILL.md': '---\nname: a\ndescription: A.\n---\nDo it.\n' }
const CARD = '/social/local/acme/handbook'
const program = new URL('../support/hostile-drawer.ts', import.meta.url)

test("the card has the owner's picture, and is drawn without it if there is none", async () => {
  const other = await testApp(
    { 'acme/handbook': FILES, 'bare/handbook': FILES },
    { github: { withToken: false }, site: async () => {}, pictures: { drawer: { program } } },
  )
  const bare = await other.github.world.account('bare')
  if (bare) bare.avatar = 'svg'
  expect((await getPicture(other, '/social/gh/acme/handbook')).bytes.toString()).toBe('handbook with a picture')
  expect((await getPicture(other, '/social/gh/bare/handbook')).bytes.toString()).toBe('handbook')
  await other.close()
})

describe('a card that cannot be drawn', () => {
  test('for its words is drawn with the address alone', async () => {
    const words = { ...FILES, 'SKILLSET.md': MANIFEST.replace('name: Handbook', 'name: CRASH the drawing') }
    const other = await testApp({ 'acme/handbook': words }, { site: async () => {}, pictures: { drawer: { program } } })
    await other.open('/local/acme/handbook')
    const { status, bytes } = await getPicture(other, CARD)
    expect([status, bytes.toString()]).toEqual([200, 'handbook'])
    await other.close()
  })

  test('because too many wait is 503, and asked for again in two seconds', async () => {
    const busy = await testApp(
      { 'acme/handbook': FILES },
      { site: async () => {}, pictures: { drawer: { program, maxWaiting: 0 } } },
    )
    const { status, headers, bytes } = await getPicture(busy, CARD)
    expect([status, headers['retry-after'], headers['cache-control'], bytes.toString()]).toEqual([
      503,
      '2',
      'no-store',
      'not available now\n',
    ])
    await busy.close()
  })
})
