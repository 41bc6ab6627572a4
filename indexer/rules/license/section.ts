import { OFFERING, readLicenseChoice } from './choice.ts'
import { isCopyrightOnly } from './copyright.ts'
import { isKnown, isWrittenAsName, ownWords } from './guard.ts'
import { licenseIdOf, takeLicenseNames } from './license-ids.ts'
import { isDisguised, normalizeText } from './normalize.ts'
import { ADDRESSING, FORBIDDING, LATIN, NAMES } from './significant-words.ts'
import { isAddress, isHarmlessAddress, partsOfAddress, type Token, wordsOf } from './tokens.ts'

/** The license that the license section of a README names, or the choice that it offers; `null` when it names several, or says more. */
export function readLicenseSection(markdown: string): string | null {
  const sections = licenseSections(markdown)
  const ids = new Set(sections.map(licenseOfSection))
  const [id = null] = ids
  return ids.size === 1 ? id : null
}

interface Section {
  heading: string
  body: string
}

interface Heading {
  line: number
  depth: number
  text: string
}

/** Whether a README has a section about its license. */
export function hasLicenseSection(markdown: string): boolean {
  return licenseSections(markdown).length > 0
}

/** The sections with a heading about licenses, subsections included. Code blocks have no headings. */
function licenseSections(markdown: string): Section[] {
  const lines = markdown.slice(0, README_CHARACTERS).split(/\r?\n/)
  const headings = headingsOf(lines)
  return headings.flatMap((heading, index) => {
    if (!/licen[cs]e/i.test(heading.text)) return []
    let next = index + 1
    while (next < headings.length && (headings[next]?.depth ?? 0) > heading.depth) next++
    return [
      {
        heading: heading.text,
        body: lines
          .slice(heading.line + 1, headings[next]?.line)
          .join('\n')
          .trim(),
      },
    ]
  })
}

function headingsOf(lines: readonly string[]): Heading[] {
  const headings: Heading[] = []
  let fence: string | null = null
  for (const [index, line] of lines.entries()) {
    const mark = line.match(/^ {0,3}(`{3,}|~{3,})/)?.[1]
    if (mark !== undefined && (fence === null || mark.startsWith(fence))) fence = fence === null ? mark : null
    if (fence !== null || mark !== undefined) continue
    const atx = line.match(/^ {0,3}(#{1,6})(?:[ \t]+([^ \t].*)?)?$/)
    const setext = line.match(/^ {0,3}(=+|-+)[ \t]*$/)
    const before = lines[index - 1]?.trim() ?? ''
    if (atx !== null) headings.push({ line: index, depth: atx[1]?.length ?? 1, text: atx[2] ?? '' })
    else if (setext !== null && before !== '' && !/^(?:#|[-*|>])/.test(before)) {
      headings.push({ line: index, depth: setext[1]?.startsWith('=') ? 1 : 2, text: before })
    }
  }
  return headings
}

function licenseOfSection({ heading, body }: Section): string | null {
  const choice = readLicenseChoice(`${heading}\n${body}`)
  if (choice !== null || body.length > SECTION_CHARACTERS) return choice
  if (isDisguised(body) || QUESTION.test(body)) return null
  const { words, copyright } = normalizeText(`${heading}\n${body}`)
  const all = [...words, ...copyright.flatMap(line => wordsOf(line.toLowerCase()))]
  if (all.some(word => RESERVING.has(word) || FORBIDDING.test(word) || !(LATIN.test(word) || isAddress(word)))) return null
  const { ids: found } = takeLicenseNames(words.filter(word => !isAddress(word)))
  const [id] = found
  if (found.size !== 1 || id === undefined) return null
  const own = ownWords(id)
  if (all.flatMap(partsOfAddress).some(part => NAMES.test(part) && !own.has(part) && !found.has(part))) return null
  if (!words.filter(isAddress).every(one => licenseIdOf(`https://${one}`) === id || isHarmlessAddress(one, own))) return null
  // Behind a horizontal rule stands what belongs to the whole page.
  const lines = (body.split(RULE, 1)[0] ?? '').split('\n').filter(line => !isLinkDefinition(line))
  const above = normalizeText([heading, ...lines].join('\n'))
  return isStatement(above.tokens, own) && above.copyright.every(line => isCopyrightOnly(line, own)) ? id : null
}

/** Whether words only say which license counts, where its text is, and who made the work: another sentence may be a condition. */
function isStatement(tokens: readonly Token[], own: ReadonlySet<string>): boolean {
  const words = tokens.map(({ word }) => word)
  const isName = ({ word }: Token) =>
    !own.has(word) && !isAddress(word) && !isKnown(word) && !OFFERING.has(word) && !BESIDE_LICENSES.has(word)
  return tokens.every((token, index) => {
    const next = words[index + 1] ?? ''
    if (token.word === 'for') return POINTED_AT.test(words.slice(index + 1).join(' '))
    if (token.word === 'from' && /^\p{N}+$/u.test(next)) return false
    if (token.word === 'terms') return next === 'of' || next === 'and'
    if (!isName(token)) return true
    if ((ADDRESSING.test(token.word) && !token.isJoined) || isPointedAt(words, index)) return false
    return isWrittenAsName(token) || (index < NAME_AT && /^(?:is|are)$/.test(next))
  })
}

/** Whether a line is `[name]: address`, which a page does not show. */
function isLinkDefinition(line: string): boolean {
  const [name = '', address = '', ...more] = line.split(']: ')
  return /^\[[^^]/.test(name) && more.length === 0 && /^\S+$/.test(address)
}

/** Whether the word before, or the one before that, is "see". */
function isPointedAt(words: readonly string[], index: number): boolean {
  return words.slice(Math.max(0, index - 2), index).includes('see')
}

const README_CHARACTERS = 256 * 1024
const SECTION_CHARACTERS = 200
const RULE = /\n[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*(?=\n|$)/
const QUESTION = /\?(?:\s|$)/
/** Behind a heading of one word: "License", "project is licensed under MIT". */
const NAME_AT = 2
/** What a license text is read for. */
const POINTED_AT = /^(?:(?:the|a|more|full|complete|further|license|licensing) )*(?:details|detail|information|info|terms|text)\b/
const BESIDE_LICENSES: ReadonlySet<string> = new Set(
  wordsOf(
    'main root configuration made built created maintained logo copyright licensing same also like sdk template start end feel free freely forever modify share improve',
  ),
)
const RESERVING = new Set([
  'individual',
  'each',
  'except',
  'some',
  'may',
  'unless',
  'however',
  ...wordsOf('other parts portions third'),
])
