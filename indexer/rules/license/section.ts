import { readLicenseChoice } from './choice.ts'
import { ownWords } from './guard.ts'
import { takeLicenseNames } from './named-licenses.ts'
import { normalizeText } from './normalize.ts'
import { FORBIDDING, LATIN, NAMES } from './significant-words.ts'
import { isAddress, partsOfAddress, wordsOf } from './tokens.ts'

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
  const { words, copyright } = normalizeText(`${heading}\n${body}`)
  const all = [...words, ...copyright.flatMap(line => wordsOf(line.toLowerCase()))]
  if (all.some(word => RESERVING.has(word) || FORBIDDING.test(word) || !(LATIN.test(word) || isAddress(word)))) return null
  const { ids: found } = takeLicenseNames(words.filter(word => !isAddress(word)))
  const [id] = found
  if (found.size !== 1 || id === undefined) return null
  const own = ownWords(id)
  return all.flatMap(partsOfAddress).some(part => NAMES.test(part) && !own.has(part) && !found.has(part)) ? null : id
}

const README_CHARACTERS = 256 * 1024
const SECTION_CHARACTERS = 200
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
