import { expect, test } from 'vitest'
import { INDEX_PROCESSOR_SECONDS, INDEXED_TEXT_BYTES } from '#core/limits.ts'
import { tellLeftOut } from '#indexer/rules/left-out.ts'
import { planOf } from '#test/support/planned.ts'
import { finding } from '#words/findings.ts'
import { MIT, skillText } from '../../../api/support/texts.ts'

test('an index without files has their number and the limit', () => {
  const { plan } = planOf({ LICENSE: MIT, 'a/SKILL.md': skillText('a') })
  const told = (late: number, lateSkills: number, overBudget: number) => {
    const { truncated, diagnostics } = tellLeftOut(plan, { late, lateSkills, overBudget })
    return { truncated, told: diagnostics.map(({ code, case: of, values }) => ({ code, case: of, values })) }
  }
  expect(told(0, 0, 0)).toEqual({ truncated: false, told: [] })
  expect(told(3, 1, 2)).toEqual({
    truncated: true,
    told: [
      finding('index.limit_time:files', { n: 3, skills: 1, limit: INDEX_PROCESSOR_SECONDS }),
      finding('index.limit_bytes:linked', { n: 2, limit: INDEXED_TEXT_BYTES }),
    ],
  })
  expect(told(0, 0, 1).truncated).toBe(true)
})
