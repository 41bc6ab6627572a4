import { ByteWriter } from '#core/search/bytes.ts'
import { ITEM_KIND, type ItemKind, type SearchHead } from '#core/search/head.ts'
import { isShownPlace, isTestPlace } from '#core/skill-places.ts'
import { compareBytes } from '#core/text.ts'
import { isMarkdown } from '../rules/content-kind.ts'
import type { Originals, SearchInput } from './input.ts'

/** The items of a section in order: their numbers, and what its head holds of each. */
export class ItemList {
  readonly #kinds = new ByteWriter()
  readonly #asides = new ByteWriter()
  readonly #titleLengths = new ByteWriter()
  readonly #fingerprints = new ByteWriter()
  readonly #owners = new OwnerList()
  /** The numbers of the skills, by path. */
  readonly #skills = new Map<string, number>()
  #lastPath: string | null = null

  /** The number of the next item. @throws RangeError when its path does not come after that of the item before */
  next({ path }: SearchInput): number {
    if (this.#lastPath !== null && compareBytes(this.#lastPath, path) >= 0) {
      throw new RangeError(`search items out of order: ${this.#lastPath}, ${path}`)
    }
    this.#lastPath = path
    return this.#kinds.length
  }

  add(item: SearchInput, fingerprint: Uint8Array, titleLength: number): void {
    if (item.kind === 'skill') this.#skills.set(item.path, this.#kinds.length)
    this.#owners.add(item)
    this.#kinds.byte(kindOf(item))
    this.#asides.byte(isAside(item) ? 1 : 0)
    this.#titleLengths.byte(titleLength)
    this.#fingerprints.bytes(fingerprint)
  }

  /** @throws RangeError when the skill of a supporting file is not an item */
  finish(
    originals: Originals,
  ): Pick<SearchHead, 'kinds' | 'titleLengths' | 'owners' | 'asides' | 'copies'> & { fingerprints: Uint8Array } {
    return {
      kinds: this.#kinds.finish(),
      asides: this.#asides.finish(),
      copies: this.#copiesOf(originals),
      titleLengths: this.#titleLengths.finish(),
      fingerprints: this.#fingerprints.finish(),
      owners: this.#owners.finish(),
    }
  }

  /** Of copies and originals that are items. */
  #copiesOf(originals: Originals): ReadonlyMap<number, number> {
    const copies = [...this.#skills].flatMap(([path, item]): [number, number][] => {
      const original = this.#skills.get(originals.get(path) ?? path)
      return original === undefined || original === item ? [] : [[item, original]]
    })
    return new Map(copies)
  }
}

/** For each item, the number of the skill that owns it; -1 for a document. */
class OwnerList {
  // A supporting file may come before its skill, so skills also have numbers by first mention.
  readonly #mentions = new Map<string, number>()
  readonly #itemsByMention: number[] = []
  #mentionsByItem = new Int32Array(1024)
  #items = 0

  add({ path, kind, owner }: SearchInput): void {
    if (this.#items === this.#mentionsByItem.length) this.#grow()
    const ownerPath = kind === 'skill' ? path : kind === 'document' ? null : owner
    const mention = ownerPath === null ? -1 : this.#mention(ownerPath)
    if (kind === 'skill') this.#itemsByMention[mention] = this.#items
    this.#mentionsByItem[this.#items++] = mention
  }

  /** @throws RangeError when a skill was mentioned and never added */
  finish(): Int32Array {
    for (const [path, mention] of this.#mentions) {
      if (this.#itemsByMention[mention] === -1) throw new RangeError(`search item without its skill: ${path}`)
    }
    return this.#mentionsByItem.slice(0, this.#items).map(mention => this.#itemsByMention[mention] ?? -1)
  }

  #mention(path: string): number {
    const known = this.#mentions.get(path)
    if (known !== undefined) return known
    this.#mentions.set(path, this.#itemsByMention.length)
    return this.#itemsByMention.push(-1) - 1
  }

  #grow(): void {
    const grown = new Int32Array(2 * this.#items)
    grown.set(this.#mentionsByItem)
    this.#mentionsByItem = grown
  }
}

function kindOf({ kind, path }: SearchInput): ItemKind {
  if (kind === 'supporting') return isMarkdown(path) ? ITEM_KIND.page : ITEM_KIND.file
  return ITEM_KIND[kind]
}

function isAside({ kind, path }: SearchInput): boolean {
  return kind === 'skill' ? isShownPlace(path) : kind === 'document' && isTestPlace(path)
}
