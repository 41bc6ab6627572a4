import { expect, test } from 'vitest'
import { flipLinks } from './flip-links.ts'

test('links that flip into foreign repositories during all requests reveal and store nothing of them', async () => {
  const report = await flipLinks({ seconds: 10, requests: 800 })
  expect(report.leaks).toEqual([])
  expect(Object.keys(report.statuses)).not.toContain('500')
  // It saw something: answers from an index, and flips enough.
  expect(report.statuses[200]).toBeGreaterThan(0)
  expect(report.indexed).toBeGreaterThan(0)
  expect(report.flips).toBeGreaterThan(500)
})
