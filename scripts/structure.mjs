/**
 * `npm run structure`: draws the rooms of every part from the imports of its files, and measures functions and files, of the tests files
 * alone. Ends with 1 when an import runs up or sideways, in a circle of rooms, or a measure is over its bound. The unit tests do the same.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import ts from 'typescript'

/**
 * The rooms of each part, from top to bottom: a room imports only rooms of rows below its own. Files at the top of a part have no row.
 *
 * @type {Record<string, string[][]>}
 */
export const ROOMS = {
  site: [['pages'], ['layouts'], ['components'], ['lib', 'styles']],
  api: [
    ['routes', 'mcp', 'front'],
    ['reading'],
    ['http', 'cards', 'pictures', 'oauth'],
    ['mount', 'search'],
    ['snapshot'],
    ['operator', 'people'],
  ],
  indexer: [['jobs', 'check', 'sweep'], ['pipeline'], ['search'], ['rules'], ['snapshot']],
  infra: [['monitoring', 'queue', 'github', 'local', 'worktree', 's3', 'postgres', 'disk', 'system'], ['git']],
  core: [['search', 'changes'], ['snapshot'], ['ports'], ['contract'], ['concurrency']],
  words: [['de'], ['en']],
  scripts: [['servers'], ['setup']],
  cli: [['reader', 'lock', 'action']],
  bin: [],
}

/** Lines of a function and of a file, tests included, at most. */
export const BOUNDS = { function: 80, file: 600 }

/**
 * @typedef {{ path: string, text: string }} Source `path` with slashes, from the root
 * @typedef {{ from: string, to: string, importer: string }} Arrow from one room of a part to another
 */

/**
 * The rooms of the sources, and the arrows between rooms of one part.
 *
 * @param {readonly Source[]} sources
 * @returns {{ rooms: Map<string, string[]>, arrows: Arrow[], folderArrows: Arrow[] }} `rooms`: the files of each room; `folderArrows`: between
 *   folders, those inside rooms included
 */
export function readRooms(sources) {
  /** @type {Map<string, string[]>} */
  const rooms = new Map()
  /** @type {Arrow[]} */
  const arrows = []
  /** @type {Arrow[]} */
  const folderArrows = []
  for (const { path, text } of sources) {
    const from = roomOf(path)
    rooms.set(from, [...(rooms.get(from) ?? []), path])
    for (const imported of importsOf(path, text)) {
      const to = roomOf(imported)
      if (partOf(to) !== partOf(from)) continue
      if (to !== from) arrows.push({ from, to, importer: path })
      const folders = { from: posix.dirname(path), to: posix.dirname(imported), importer: path }
      if (folders.from !== folders.to && isInRoom(path) && isInRoom(imported)) folderArrows.push(folders)
    }
  }
  return { rooms, arrows, folderArrows }
}

/**
 * What is wrong with the rooms, a line each.
 *
 * @param {ReturnType<typeof readRooms>} structure
 * @returns {string[]}
 */
export function findFaults({ rooms, arrows, folderArrows }) {
  const faults = []
  for (const room of rooms.keys()) {
    if (!isTopFile(room) && rowOf(room) < 0) faults.push(`${room} has no row in ROOMS (scripts/structure.mjs)`)
  }
  for (const { from, to, importer } of arrows) {
    const [upper, lower] = [rowOf(from), rowOf(to)]
    if (upper >= 0 && lower >= 0 && lower <= upper)
      faults.push(`${importer} imports ${to}, which lies ${lower < upper ? 'above' : 'beside'} it`)
  }
  const circle = findCircle(arrows) ?? findCircle(folderArrows)
  if (circle) faults.push(`rooms import each other in a circle: ${circle.join(' -> ')}`)
  return faults
}

/**
 * The length in lines of every function that has a name of its own, by place; and of every file.
 *
 * @param {readonly Source[]} sources
 */
export function measure(sources) {
  /** @type {{ lines: number, place: string }[]} */
  const functions = []
  for (const { path, text } of sources.filter(isProgram)) {
    const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
    /** @param {number} position */
    const lineOf = position => file.getLineAndCharacterOfPosition(position).line + 1
    /** @param {ts.Node} node */
    const visit = node => {
      if (isNamedFunction(node)) {
        const start = lineOf(node.getStart(file))
        functions.push({ lines: lineOf(node.end) - start + 1, place: `${path}:${start}` })
      }
      ts.forEachChild(node, visit)
    }
    visit(file)
  }
  return { functions: functions.sort(byLines), files: measureFiles(sources) }
}

/**
 * The length in lines of every file.
 *
 * @param {readonly Source[]} sources
 */
export function measureFiles(sources) {
  const files = sources.filter(isProgram).map(({ path, text }) => ({ lines: text.split('\n').length - 1, place: path }))
  return files.sort(byLines)
}

/**
 * What is over its bound, a line each.
 *
 * @param {ReturnType<typeof measure>} sizes
 */
export function findExcess({ functions, files }) {
  const faults = functions.flatMap(({ lines, place }) =>
    lines > BOUNDS.function ? [`${place}: a function of ${lines} lines, more than ${BOUNDS.function}`] : [],
  )
  return [...faults, ...findLongFiles(files)]
}

/**
 * The files that are over their bound, a line each.
 *
 * @param {ReturnType<typeof measureFiles>} files
 */
export function findLongFiles(files) {
  return files.flatMap(({ lines, place }) => (lines > BOUNDS.file ? [`${place}: ${lines} lines, more than ${BOUNDS.file}`] : []))
}

/** @param {string} path @param {string} text @returns {string[]} paths of the files of the project that it imports */
function importsOf(path, text) {
  return ts.preProcessFile(text, true, true).importedFiles.flatMap(({ fileName }) => {
    if (fileName.startsWith('#')) return [fileName.slice(1)]
    return fileName.startsWith('.') ? [posix.normalize(posix.join(posix.dirname(path), fileName))] : []
  })
}

/** @param {Source} source */
function isProgram({ path }) {
  return /\.(ts|mjs)$/.test(path)
}

/** A folder right below a part, or a file that lies there. @param {string} path */
function roomOf(path) {
  return path.split('/').slice(0, 2).join('/')
}

/** @param {string} room */
function partOf(room) {
  return room.split('/', 1)[0] ?? ''
}

/** Whether a file lies in a room, and not at the top of its part. @param {string} path */
function isInRoom(path) {
  return path.split('/').length > 2
}

/** @param {string} room */
function isTopFile(room) {
  return room.includes('.')
}

/** @param {string} room */
function rowOf(room) {
  const [part = '', name = ''] = room.split('/')
  return (ROOMS[part] ?? []).findIndex(row => row.includes(name))
}

/** @param {readonly Arrow[]} arrows @returns {string[] | null} */
function findCircle(arrows) {
  const next = Map.groupBy(arrows, ({ from }) => from)
  const done = new Set()
  /** @param {string} room @param {string[]} path @returns {string[] | null} */
  const walk = (room, path) => {
    if (path.includes(room)) return [...path.slice(path.indexOf(room)), room]
    if (done.has(room)) return null
    for (const { to } of next.get(room) ?? []) {
      const circle = walk(to, [...path, room])
      if (circle) return circle
    }
    done.add(room)
    return null
  }
  for (const room of next.keys()) {
    const circle = walk(room, [])
    if (circle) return circle
  }
  return null
}

/** @param {ts.Node} node */
function isNamedFunction(node) {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isConstructorDeclaration(node))
    return node.body !== undefined
  return (
    (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) &&
    (ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent))
  )
}

/** @param {{ lines: number }} left @param {{ lines: number }} right */
function byLines(left, right) {
  return left.lines - right.lines
}

/** The source files that git does not ignore. @param {string} root @returns {Source[]} */
export function readSources(root) {
  return readFiles(root, Object.keys(ROOMS))
}

/** The files of the tests. @param {string} root @returns {Source[]} */
export function readTests(root) {
  return readFiles(root, ['test'])
}

/** @param {string} root @param {readonly string[]} folders @returns {Source[]} */
function readFiles(root, folders) {
  const options = ['-z', '--cached', '--others', '--exclude-standard', '--deduplicate']
  const listed = execFileSync('git', ['ls-files', ...options, ...folders], { cwd: root, encoding: 'utf8' })
  const paths = listed.split('\0').filter(path => /\.(ts|mjs|astro|css)$/.test(path) && !path.includes('/dist/'))
  return paths.flatMap(path => {
    try {
      return [{ path, text: readFileSync(join(root, path), 'utf8') }]
    } catch {
      return [] // removed and not yet staged
    }
  })
}

/**
 * Every room with the rooms it imports and its files, part by part, row by row.
 *
 * @param {ReturnType<typeof readRooms>} structure
 */
function draw(structure) {
  const lines = Object.entries(ROOMS).flatMap(([part, rows]) => {
    const top = [...structure.rooms.keys()].filter(room => partOf(room) === part && isTopFile(room))
    return [
      '',
      part,
      ...wrap(top.map(nameIn(part)), '  '),
      ...rows.flatMap(row => ['', ...row.flatMap(name => drawRoom(structure, part, name))]),
    ]
  })
  return `${lines.join('\n')}\n`
}

/** @param {ReturnType<typeof readRooms>} structure @param {string} part @param {string} name */
function drawRoom({ rooms, arrows }, part, name) {
  const room = `${part}/${name}`
  const below = new Set(arrows.filter(({ from }) => from === room).map(({ to }) => nameIn(part)(to)))
  const heading = below.size === 0 ? `  ${name}` : `  ${name} -> ${[...below].sort().join(', ')}`
  return [heading, ...wrap((rooms.get(room) ?? []).map(nameIn(room)).sort(), '      ')]
}

/** @param {string} folder @returns {(path: string) => string} the name of a path below the folder */
function nameIn(folder) {
  return path => path.slice(folder.length + 1)
}

/** @param {readonly string[]} words @param {string} indent @returns {string[]} lines of at most 130 characters */
function wrap(words, indent) {
  /** @type {string[]} */
  const lines = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length > 129) lines.push(indent + word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

/** @param {ReturnType<typeof measure>} sizes */
function summarise({ functions, files }) {
  const [longest, file] = [functions.at(-1), files.at(-1)]
  return `\n${files.length} files, ${functions.length} functions; the longest function ${longest?.lines} lines (${longest?.place}), the longest file ${file?.lines} (${file?.place})\n`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)))
  const sources = readSources(root)
  const structure = readRooms(sources)
  const sizes = measure(sources)
  const faults = [...findFaults(structure), ...findExcess(sizes), ...findLongFiles(measureFiles(readTests(root)))]
  process.stdout.write(draw(structure) + summarise(sizes))
  for (const fault of faults) process.stdout.write(`${fault}\n`)
  if (faults.length > 0) process.exitCode = 1
}
