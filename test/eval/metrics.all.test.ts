import { expect, test } from 'vitest'
import { TARGETS } from './metrics.ts'
import { readSets } from './sets.ts'

const shipped = readSets().filter(({ gates }) => gates)

test.runIf(shipped.length > 0)('every class of the shipped sets has a target', () => {
  const classes = shipped.flatMap(({ queries }) => queries.map(({ cls }) => cls))
  expect(classes.filter(cls => TARGETS[cls] === undefined)).toEqual([])
})
