import { expect, test } from 'vitest'
import { PATIENCE, patienceMsOf } from '#core/patience.ts'

test('a job may take ten times as long as its process waits for an answer', () => {
  expect(patienceMsOf({ [PATIENCE]: '60000' })).toBe(60_000)
})

test.each([undefined, '', 'soon'])('%j: everything is as it is shipped', value => {
  expect(patienceMsOf({ [PATIENCE]: value })).toBeNull()
})
