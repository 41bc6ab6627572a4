/** Frames of clips without pictures: what says their size and their duration. */

const word = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export function mp4Box(name: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content)
  return Buffer.concat([word(8 + body.length), Buffer.from(name, 'latin1'), body])
}

export function mp4Clip({ width = 640, height = 360, durationMs = 2_500 } = {}): Buffer {
  const header = Buffer.concat([word(0), word(0), word(0), word(1_000), word(durationMs), Buffer.alloc(80)])
  const track = Buffer.concat([Buffer.alloc(76), word(width * 65_536), word(height * 65_536)])
  const sound = Buffer.alloc(84)
  return Buffer.concat([
    mp4Box('ftyp', Buffer.from('isom'), word(0)),
    mp4Box('mdat', Buffer.alloc(64)),
    mp4Box('moov', mp4Box('mvhd', header), mp4Box('trak', mp4Box('tkhd', sound)), mp4Box('trak', mp4Box('tkhd', track))),
  ])
}

/** @param name with the mark of its length */
export function webmElement(name: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content)
  const size = word(body.length)
  size[0] = 0x10 | (size[0] ?? 0)
  const digits = name.toString(16)
  return Buffer.concat([Buffer.from(digits, 'hex'), size, body])
}

export function webmClip({ width = 640, height = 360, durationMs = 2_500, docType = 'webm' } = {}): Buffer {
  const duration = Buffer.alloc(8)
  duration.writeDoubleBE(durationMs)
  return Buffer.concat([
    webmElement(0x1a45dfa3, webmElement(0x4282, Buffer.from(docType))),
    webmElement(
      0x18538067,
      webmElement(0x1549a966, webmElement(0x2ad7b1, word(1_000_000)), webmElement(0x4489, duration)),
      webmElement(
        0x1654ae6b,
        webmElement(0xae, webmElement(0xe0, webmElement(0xb0, word(width)), webmElement(0xba, word(height)))),
      ),
    ),
  ])
}

/**
 * A WebM with so many empty bytes before its last cluster that players which seek behind them ask for a range. Its cues must name clusters by
 * offsets of eight bytes, and its segment must have a length of eight.
 */
export function withGapBeforeLastCluster(clip: Buffer, gapBytes: number): Buffer {
  const segment = clip.indexOf(Buffer.from('18538067', 'hex'))
  const lastCluster = clip.lastIndexOf(Buffer.from('1f43b675', 'hex'))
  const body = segment + 12
  const cue = Buffer.alloc(8)
  cue.writeBigUInt64BE(BigInt(lastCluster - body))
  const cueAt = clip.indexOf(cue)
  if (segment < 0 || cueAt < 0) throw new Error('the clip has other cues than this can move')
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(gapBytes) | (1n << 56n))
  const gap = Buffer.concat([Buffer.from([0xec]), length, Buffer.alloc(gapBytes)])
  const head = Buffer.from(clip.subarray(0, lastCluster))
  head.writeBigUInt64BE(head.readBigUInt64BE(segment + 4) + BigInt(gap.length), segment + 4)
  head.writeBigUInt64BE(BigInt(lastCluster - body + gap.length), cueAt)
  return Buffer.concat([head, gap, clip.subarray(lastCluster)])
}
