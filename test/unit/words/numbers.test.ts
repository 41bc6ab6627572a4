import { expect, test } from 'vitest'
import { PAGE_T, t } from '#words/t.ts'

test('large numbers in sentences of pages have the marks of their language, and those of commands have none', () => {
  const limits = { lineLimit: 500, byteLimit: 20_000 }
  expect(PAGE_T.en('finding.body.long', limits)).toContain('500 lines and 20,000 bytes')
  expect(PAGE_T.de('finding.body.long', limits)).toContain('500 Zeilen und 20.000 Byte')
  expect(t('finding.body.long', limits)).toContain('500 lines or 20000 bytes')
  expect(PAGE_T.en('reason.line', { n: 1234 })).toBe('line 1234')
})
