import { expect, test } from 'vitest'
import { FormatError } from '#core/snapshot/damage.ts'
import { SkillReadings, skillReadingMembers, splitSkillReadings } from '#indexer/snapshot/skill-readings.ts'

const oid = (number: number) => number.toString(16).padStart(40, '0')
const jsonOf = (characters: number) => JSON.stringify({ text: 'x'.repeat(characters - '{"text":""}'.length) })

test('readings come back as they were written', () => {
  const readings: [string, string][] = [
    [oid(1), JSON.stringify({ text: 'line\nand \u2028 half \ud83d 尺寸' })],
    [oid(2), '{}'],
  ]
  expect([...skillReadingMembers(readings)].flatMap(member => [...splitSkillReadings(member)])).toEqual(readings)
  expect([...skillReadingMembers([])]).toEqual([])
})

test('many readings are stored in several members', () => {
  const readings = Array.from({ length: 100 }, (_, at) => [oid(at), jsonOf(2_000)] as const)
  const members = [...skillReadingMembers(readings)]
  expect(members.map(({ length }) => length).every(length => length < 70_000)).toBe(true)
  expect(members).toHaveLength(4)
  expect(members.flatMap(member => [...splitSkillReadings(member)])).toEqual(readings)
})

test('a long reading is left out, and so are all after the first 8 million characters: their texts are parsed again', () => {
  const readings = new SkillReadings()
  readings.add(oid(0), jsonOf(16 * 1024 + 1))
  readings.add(oid(0), null)
  for (let at = 1; at <= 600; at++) readings.add(oid(at), jsonOf(16 * 1024))
  expect([...readings].map(([id]) => id)).toEqual(Array.from({ length: 512 }, (_, at) => oid(at + 1)))
})

test('the first reading of a blob stays', () => {
  const readings = new SkillReadings()
  readings.add(oid(1), '{"a":1}')
  readings.add(oid(1), '{"a":2}')
  expect([...readings]).toEqual([[oid(1), '{"a":1}']])
})

test.each<[string, string]>([
  ['a line without its end', `${oid(1)} {}`],
  ['a line without an id', '{}\n'],
  ['an empty line', `${oid(1)} {}\n\n`],
])('%s is damage', (_, text) => {
  expect(() => [...splitSkillReadings(Buffer.from(text))]).toThrow(FormatError)
})
