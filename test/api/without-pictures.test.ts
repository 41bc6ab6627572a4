import { expect, onTestFinished, test } from 'vitest'
import { testApp } from '#test/support/test-app.ts'

const SKILL = '---\nname: a\ndescription: A.\n---\nDo it.\n'

test('a service without programs for pictures has badges, and answers every other picture with 404', async () => {
  const app = await testApp({ 'acme/tools': { 'a/SKILL.md': SKILL } }, { site: async () => {}, pictures: null })
  onTestFinished(app.close)
  const statusOf = async (url: string) => (await app.app.inject({ url })).statusCode
  const urls = ['/badge', '/social', '/icon', '/picture'].map(prefix => `${prefix}/local/acme/tools`)
  expect(await Promise.all(urls.map(statusOf))).toEqual([200, 404, 404, 404])
  expect(await statusOf('/social/docs')).toBe(404)
})
