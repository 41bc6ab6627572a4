import type { Block, BlockKind } from './blocks.ts'

/** Collects the blocks of a marked text in order and numbers their runs. */
export class BlockList {
  readonly blocks: Block[] = []
  /** Whether a further line of text belongs to the last block. */
  isOpen = false
  #run = 0
  #hasTitle = false

  get last(): Block | undefined {
    return this.blocks.at(-1)
  }

  /** Adds a block. Text, code and tables never share a run. */
  add(kind: BlockKind, start: number, end: number): void {
    const { last } = this
    if (last && last.run === this.#run && layoutOf(last.kind) !== layoutOf(kind)) this.#run++
    this.blocks.push({ kind, start, end, run: this.#run, continues: false })
  }

  /** Adds a heading. The first one is the title of the text and is left out. */
  addHeading(start: number, end: number): void {
    this.startRun()
    this.isOpen = false
    if (this.#hasTitle) this.add('heading', start, end)
    this.#hasTitle = true
  }

  /** Makes a heading of the last block: the line below it is its underline. */
  turnIntoHeading({ start, end }: Block): void {
    this.blocks.pop()
    this.addHeading(start, end)
  }

  /** The next block begins a new run. */
  startRun(): void {
    this.#run++
  }
}

/** Text, code or table. */
function layoutOf(kind: BlockKind): number {
  return kind === 'code' ? 1 : kind === 'row' ? 2 : 0
}
