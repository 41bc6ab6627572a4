import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** Numbers from 0 to below `limit` that look random and are the same for the same seed. */
export function createRandom(seed: number): (limit: number) => number {
  let state = seed
  return limit => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** What was put over a repository. */
export interface Overlay {
  manifests: number
  /** Folders that a manifest closes. */
  closed: string[]
}

/**
 * Puts manifests into a working folder: rules at several depths, includes from beside, above, the root and nowhere, exclusions of every form,
 * now and then a manifest that cannot be understood, and skills that include something themselves.
 */
export function overlayManifests(folder: string, seed: number): Overlay {
  const random = createRandom(seed)
  const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)] as Item
  const files = filesBelow(folder)
  const texts = files.filter(file => /\.(?:md|txt)$/.test(file))
  const skills = files.filter(file => posix.basename(file) === 'SKILL.md')
  const folders = [...new Set(skills.flatMap(foldersAbove))].sort()
  const overlay: Overlay = { manifests: 0, closed: [] }

  for (const place of folders) {
    // The root and its folders always; further down one in three.
    if (place.includes('/') && random(3) > 0) continue
    const below = files.filter(file => isBelow(place, file))
    // A pattern that names one SKILL.md often names them all.
    const others = below.filter(file => posix.basename(file) !== 'SKILL.md')
    const targets = random(6) === 0 || others.length === 0 ? below : others
    const isBroken = place.includes('/') && random(10) === 0
    if (isBroken) overlay.closed.push(place)
    overlay.manifests++
    const fields = {
      name: `Folder ${overlay.manifests}`,
      include: Array.from({ length: random(4) }, () => spell(place, pick(texts), random)),
      exclude: isBroken ? 'everything' : Array.from({ length: random(4) }, () => patternFor(place, pick(targets), random)),
    }
    const text = `---\n${Object.entries(fields)
      .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
      .join('')}---\n${rules(random)}`
    writeFileSync(join(folder, place, 'SKILLSET.md'), random(4) === 0 ? text.replaceAll('\n', '\r\n') : text)
  }
  for (const skill of skills) {
    if (random(3) > 0) continue
    const path = join(folder, skill)
    const text = readFileSync(path, 'utf8')
    const includes = Array.from({ length: 1 + random(3) }, () => spell(posix.dirname(skill), pick(texts), random))
    const isList = random(2) === 0 || includes.some(include => /\s/.test(include))
    const declared = isList ? JSON.stringify(includes) : JSON.stringify(includes.join(' '))
    if (text.startsWith('---\n')) writeFileSync(path, text.replace('---\n', `---\ninclude: ${declared}\n`))
  }
  return overlay
}

/** A path as an author may write it: from the root, relative, and sometimes to nothing. */
function spell(folder: string, path: string, random: (limit: number) => number): string {
  // What is missing at the root is missing for every skill.
  const style = folder === '' ? 2 + random(58) : random(60)
  if (style === 0) return `${path}.gone`
  if (style === 1) return `../../../../../../${path}`
  return style < 30 ? `/${path}` : `./${posix.relative(folder === '.' ? '' : folder, path)}`
}

/** A gitignore pattern that has something to do with a file below the folder. */
function patternFor(folder: string, path: string, random: (limit: number) => number): string {
  const relative = folder === '' ? path : path.slice(folder.length + 1)
  const [top = ''] = relative.split('/')
  const name = posix.basename(relative)
  const extension = posix.extname(name)
  const patterns = [
    escapePattern(name),
    `/${escapePattern(relative)}`,
    `**/${escapePattern(name)}`,
    `${escapePattern(posix.basename(posix.dirname(relative)))}/`,
    `!${escapePattern(name)}`,
    `${escapePattern(name.slice(0, 2))}*${escapePattern(extension)}`,
    `*/*/${escapePattern(name.slice(0, 1))}?*`,
    `references/**/*${extension}`,
    `[${/[a-z]/i.exec(name)?.[0] ?? 'x'}-${/[a-z]/i.exec(name)?.[0] ?? 'x'}]${escapePattern(name.slice(1))}`,
    'SKILLSET.md',
    'LICENSE*',
    `# ${top}`,
  ]
  return patterns[random(patterns.length)] ?? ''
}

function escapePattern(text: string): string {
  return text.replace(/[\\*?[\]!# ]/g, '\\$&')
}

/** From none to more than a page, with blank lines around, characters of every length and other line ends inside. */
function rules(random: (limit: number) => number): string {
  const words = ['Rule', 'always', 'größer', '規則', '🔭', 'never', 'e\u0301', '---', '- item', '\n', '\n\n', '\r\n']
  const length = [0, 3, 60, 400, 4_000][random(5)] ?? 0
  const text = Array.from({ length }, () => words[random(words.length)]).join(' ')
  return `${'\n'.repeat(random(3))}${text}${'\n'.repeat(random(3))}`
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => posix.join(entry.parentPath.slice(folder.length + 1), entry.name))
    .sort()
}

function foldersAbove(path: string): string[] {
  const folder = posix.dirname(path)
  return folder === '.' ? [''] : [...foldersAbove(folder), folder]
}

function isBelow(folder: string, path: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`)
}
