import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pageSkills } from '#api/reading/page-skills.ts'
import { parseAddress } from '#core/address.ts'
import { OVERVIEW_SKILLS } from '#core/limits.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

const at = (address: string) => parseAddress(address, ['local', 'gh'])
const SKILLS = OVERVIEW_SKILLS + 10
const FILES = Object.fromEntries(
  Array.from({ length: SKILLS }, (_, number) => [
    `${number % 2 === 0 ? 'even' : 'odd'}/s${number}/SKILL.md`,
    `---\nname: s${number}\ndescription: About ${number}.\nlicense: MIT\n---\nText.\n`,
  ]),
)

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/tools': FILES, 'acme/hidden': FILES }, { github: { withToken: false } })
})
afterAll(() => app.close())

test('pages have all skills of an address or folder, where the interface lists the first ones', async () => {
  await app.open('/local/acme/tools')
  const skillsOf = pageSkills(app.deps)(null)
  const { json } = await app.get('/api/v1/mounts/local/acme/tools')
  const all = await skillsOf(at('local/acme/tools'))
  expect(all).toHaveLength(SKILLS)
  expect(all?.slice(0, OVERVIEW_SKILLS)).toEqual(json.index.skills)
  expect((await skillsOf(at('local/acme/tools/odd')))?.every(({ path }) => path.startsWith('odd/'))).toBe(true)
})

test('a page that asks indexes nothing, and a stranger has nothing of a private repository', async () => {
  const skillsOf = pageSkills(app.deps)(null)
  expect(await skillsOf(at('local/acme/hidden'))).toBeNull()
  expect(await app.index()).toBe(0)
  await writeFile(join(app.repository('acme/hidden').gitDir, 'mountglass-private'), '')
  await expect(skillsOf(at('local/acme/hidden'))).rejects.toThrow()
})
