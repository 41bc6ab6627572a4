import { expect, test } from 'vitest'
import { PACKAGE_BYTES, UNREAD_PACKAGED_BYTES } from '#core/limits.ts'
import { planPackages } from '#indexer/rules/packages.ts'
import { type PlannedContent, planOf } from '#test/support/planned.ts'
import { t } from '#words/t.ts'
import { MIT, skillText } from '../../../api/support/texts.ts'

/** A file that fills its package, less the text of its skill. */
const LARGEST = { sizeBytes: PACKAGE_BYTES - skillText('s00').length }
const COUNT = Math.floor(UNREAD_PACKAGED_BYTES / LARGEST.sizeBytes)

/** The names of skills that can be installed, and why the others cannot. Each has one file beside its text. */
function packagesOf(beside: Record<string, [name: string, content: PlannedContent]>) {
  const files = Object.entries(beside).flatMap(([skill, [name, content]]) => [
    [`${skill}/SKILL.md`, skillText(skill)] as const,
    [`${skill}/${name}`, content] as const,
  ])
  const { plans, refusals } = planPackages(planOf({ LICENSE: MIT, ...Object.fromEntries(files) }).plan)
  return [
    plans.map(({ planned }) => planned.skill.directory),
    [...refusals].map(([skill, { key, values }]) => [skill.skill.directory, t.find(key, values)]),
  ]
}

/** A skill for each number, in the order of their names. */
const skills = (count: number, of: (number: number) => [string, PlannedContent]) =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [`s${String(number).padStart(2, '0')}`, of(number)]))

test.each([
  ['fonts', 'x.woff2'],
  ['long texts', 'x.css'],
])('the first skills whose %s fit into the bytes that are kept for packages alone can be installed', (_, name) => {
  const [installed, refused] = packagesOf({ ...skills(COUNT + 1, () => [name, LARGEST]), z: ['x.md', 'short'] })
  expect(installed).toEqual([...Object.keys(skills(COUNT, () => [name, LARGEST])), 'z'])
  expect(refused).toEqual([[`s0${COUNT}`, expect.stringContaining(`more than ${UNREAD_PACKAGED_BYTES} bytes`)]])
})

test('equal files of several skills count once', () => {
  const [installed] = packagesOf(skills(COUNT + 5, () => ['x.woff2', { ...LARGEST, oid: '1'.repeat(40) }]))
  expect(installed).toHaveLength(COUNT + 5)
})

test('a file may be as large as its package, and no larger', () => {
  const [installed, refused] = packagesOf({
    s00: ['x.woff2', LARGEST],
    s01: ['x.woff2', { sizeBytes: LARGEST.sizeBytes + 1 }],
  })
  expect(installed).toEqual(['s00'])
  expect(refused).toEqual([['s01', `its files have more than ${PACKAGE_BYTES} bytes`]])
})
