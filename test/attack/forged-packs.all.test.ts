import { expect, test } from 'vitest'
import { askForForged } from './forged-packs.ts'

test('nothing is shown of objects that a pack lists under the ids of others', async () => {
  const { answers, leaks } = await askForForged()
  expect(leaks).toEqual([])
  expect(Object.keys(answers).filter(name => name.startsWith('500'))).toEqual([])
  // It saw refusals for this reason, and an answer beside the damage.
  expect(answers['503 skill.unavailable']).toBeGreaterThan(0)
  expect(answers['200 ready']).toBeGreaterThan(0)
})
