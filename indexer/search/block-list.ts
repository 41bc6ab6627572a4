import type { BlockIndex } from '#core/search/head.ts'
import type { PageStream } from './page-stream.ts'

/** Compressed blocks in key order, each with its first key. */
export class BlockList {
  readonly keys: string[] = []
  readonly blocks: Uint8Array[] = []

  add(firstKey: string, block: Uint8Array): void {
    this.keys.push(firstKey)
    this.blocks.push(block)
  }
}

/** Writes the blocks of all lists one after the other and returns their index. */
export async function writeBlocks(stream: PageStream, lists: readonly BlockList[]): Promise<BlockIndex> {
  const starts: number[] = []
  for (const block of lists.flatMap(({ blocks }) => blocks)) {
    starts.push(stream.length)
    const waiting = stream.write(block)
    if (waiting) await waiting
  }
  starts.push(stream.length)
  return { firstKeys: lists.flatMap(({ keys }) => keys), starts: Uint32Array.from(starts) }
}
