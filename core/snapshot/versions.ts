/**
 * Version of the stored bytes, part of the header's key: what was stored in another one is not seen, and built anew.
 *
 * 1: packs of gzip members, sorted tables in shards, a header last.
 * 2: what find searches is a section of its own, read by range, in place of tables.
 * 3: commits share packs, which end with directories of their records; the search section may lie in many pieces.
 */
export const FORMAT_VERSION = 3

/**
 * Version of the reading rules: part of the header's key and of every cursor. Grows with any change of what is delivered.
 *
 * 1: the first rules. They are open until the first release: throw a store of an earlier checkout away.
 */
export const RULES_VERSION = 1

/**
 * Version of the terms and of what a posting says, part of the header's key: a snapshot with other terms is not seen, and built anew.
 *
 * 1: the first analyzer.
 * 2: places and impacts in a posting, keywords, triples of characters.
 * 3: the end of a contraction is no word.
 * 4: the same terms, packed in less time.
 * 5: stop words stand in front of the other terms, and blocks begin where they did in the commit before.
 * 6: the length of a text counts to three binary digits.
 */
export const SEARCH_VERSION = 6
