import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDirectoryWriter, type DirectoryEntry, readDirectory } from '#indexer/snapshot/pack-directory.ts'

const oid = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(bytes => Buffer.from(bytes).toString('hex'))

/** As a pack has them: one record behind the other, other bytes between them, and blobs without a record anywhere. */
const entries = fc
  .array(fc.record({ oid, sizeBytes: fc.nat(2 ** 32 - 1), gap: fc.nat(1000), length: fc.nat(2 ** 20) }), { maxLength: 60 })
  .map(parts => {
    let end = 0
    return parts.map(({ oid, sizeBytes, gap, length }): DirectoryEntry => {
      if (length === 0) return { oid, sizeBytes, record: null }
      const offset = end + gap
      end = offset + length
      return { oid, sizeBytes, record: { offset, length } }
    })
  })

test('a directory is read as it was written, within its promised bytes', () => {
  fc.assert(
    fc.property(entries, written => {
      const writer = createDirectoryWriter()
      for (const entry of written) {
        const promised = writer.maxBytes()
        writer.add(entry)
        expect(writer.maxBytes()).toBeGreaterThan(promised)
      }
      const most = writer.maxBytes()
      const bytes = writer.finish()
      expect(bytes.length).toBeLessThanOrEqual(most)
      expect(readDirectory(bytes)).toEqual(written)
      expect(writer.finish()).toHaveLength(0)
    }),
  )
})

test('bytes that are no directory are refused', () => {
  const writer = createDirectoryWriter()
  writer.add({ oid: 'a'.repeat(40), sizeBytes: 5, record: { offset: 0, length: 9 } })
  const bytes = writer.finish()
  expect(() => readDirectory(bytes.subarray(1))).toThrow()
  expect(() => readDirectory(bytes.subarray(0, -9))).toThrow()
  expect(readDirectory(new Uint8Array())).toEqual([])
})
