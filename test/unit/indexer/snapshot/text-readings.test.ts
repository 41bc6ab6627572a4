import { expect, test } from 'vitest'
import { FormatError } from '#core/snapshot/damage.ts'
import {
  createReadingsWriter,
  decodeText,
  type EncodedText,
  splitReadings,
  type TextReading,
} from '#indexer/snapshot/text-readings.ts'

const NOTHING: TextReading = {
  title: null,
  name: null,
  declaredSummary: '',
  firstParagraph: '',
  keywords: '',
  links: [],
  tokens: 0,
  facts: {},
}
const MUCH: TextReading = {
  title: 'Größe 尺寸',
  name: 'size',
  declaredSummary: 'What it declares.',
  firstParagraph: 'What it begins with. 👍',
  keywords: 'one\ntwo words',
  links: [
    { kind: 'link', target: '../a b.md#c' },
    { kind: 'image', target: '' },
    { kind: 'code', target: 'src/naïve.ts' },
  ],
  tokens: 1_234,
  facts: {
    hidden: [['U+202E', 2, 7]],
    hosts: [
      ['a.example', 1],
      ['b.example', 300],
    ],
    commands: [
      ['npx größe', 2],
      ['sudo …', 3, 'ab'.repeat(16)],
    ],
    cut: ['hosts'],
  },
}
const oid = (digit: string) => digit.repeat(40)
const CRC32 = 0xfedcba98
const digest = (id: string) => (id + id).slice(0, 64)

function memberOf(readings: readonly [oid: string, reading: TextReading][]): Uint8Array {
  const writer = createReadingsWriter()
  for (const [id, reading] of readings) writer.add(id, { reading, sha256: digest(id), crc32: CRC32 })
  return writer.take()
}

const read = (member: Uint8Array) =>
  [...splitReadings(member)].map(([id, encoded]) => {
    const { reading, sha256, crc32 } = decodeText(encoded)
    expect([sha256, crc32]).toEqual([digest(id), CRC32])
    return [id, reading]
  })

test('readings are read as they were written', () => {
  expect(
    read(
      memberOf([
        [oid('a'), MUCH],
        [oid('b'), NOTHING],
      ]),
    ),
  ).toEqual([
    [oid('a'), MUCH],
    [oid('b'), NOTHING],
  ])
})

test.each<[string, TextReading]>([
  ['half a character, which YAML can spell', { ...NOTHING, title: 'half \ud83d' }],
  [
    'very many links',
    { ...NOTHING, links: Array.from({ length: 2_000 }, (_, at) => ({ kind: 'link', target: `page-${at}.md` })) },
  ],
])('a reading with %s is left out: its text is parsed again', (_, reading) => {
  expect(
    read(
      memberOf([
        [oid('a'), reading],
        [oid('b'), MUCH],
      ]),
    ),
  ).toEqual([[oid('b'), MUCH]])
})

test('bytes that are cut off anywhere are damage', () => {
  const member = memberOf([[oid('a'), MUCH]])
  for (let length = 1; length < member.length; length++) {
    expect(() => read(member.subarray(0, length)), String(length)).toThrow(FormatError)
  }
})

test.each<[string, (reading: Buffer) => Uint8Array]>([
  ['there are more bytes', reading => Buffer.concat([reading, Buffer.of(0)])],
  [
    'a link has another kind',
    reading => Buffer.from(reading).fill(9, reading.lastIndexOf('src/') - 2, reading.lastIndexOf('src/') - 1),
  ],
])('a reading is damaged when %s', (_, change) => {
  const [[, { digests, reading }]] = [...splitReadings(memberOf([[oid('a'), MUCH]]))] as [[string, EncodedText]]
  expect(() => decodeText({ digests, reading: change(Buffer.from(reading)) })).toThrow(FormatError)
})
