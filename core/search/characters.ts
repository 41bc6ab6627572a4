/** NFKC without diacritics; case stays, since it separates the parts of an identifier. */
export function fold(text: string): string {
  if (!NOT_ASCII.test(text)) return text
  // Normalization sorts runs of marks in quadratic time, so long runs are cut.
  const bounded = text.replace(MARK_RUN, '$1')
  return bounded.normalize('NFKD').replace(DIACRITIC, '').normalize('NFC').replace(SPELLED_OUT, spellOut)
}

const NOT_ASCII = /[^\0-\x7f]/
const MARK_RUN = /([\p{M}\uff9e\uff9f]{4})[\p{M}\uff9e\uff9f]+/gu
const DIACRITIC = /[\u0300-\u036f]+/g
const SPELLED_OUT = /[ßẞæÆœŒøØłŁđĐıς]/g
const SPELLINGS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ı: 'i',
  ς: 'σ',
}

function spellOut(character: string): string {
  return SPELLINGS[character] ?? character
}

// Classes of characters; 0: not computed yet
export const OTHER = 1
export const LOWER = 2
export const UPPER = 3
export const DIGIT = 4
export const PAIRED = 5

const PAIRED_SCRIPT =
  /^(?=[\p{L}\p{M}\p{N}])[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u

/** The class of each UTF-16 unit, computed on demand. */
const unitClasses = new Uint8Array(0x10000)

export function classAt(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  const known = unitClasses[unit]
  if (known) return known
  // The class of a surrogate depends on its neighbour.
  if (unit >= 0xd800 && unit <= 0xdfff) return classify(String.fromCodePoint(text.codePointAt(index) ?? unit))
  const found = classify(String.fromCharCode(unit))
  unitClasses[unit] = found
  return found
}

function classify(character: string): number {
  if (PAIRED_SCRIPT.test(character)) return PAIRED
  if (/^[\p{Lu}\p{Lt}]/u.test(character)) return UPPER
  if (/^\p{N}/u.test(character)) return DIGIT
  return /^[\p{L}\p{M}]/u.test(character) && !/^\p{Variation_Selector}/u.test(character) ? LOWER : OTHER
}

export function unitsAt(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  if (unit < 0xd800 || unit > 0xdbff) return 1
  const next = text.charCodeAt(index + 1)
  return next >= 0xdc00 && next <= 0xdfff ? 2 : 1
}
