/**
 * `npm run structure`: draws the rooms of every part from the imports of its files, and measures functions and files. Ends with 1 when an
 * import runs up or sideways, rooms import each other in a circle, or a measure is over its bound. The unit tests do the same.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import ts from 'typescript'

/**
 * The rooms of each part, from top to bottom. A room imports only from rooms in rows below its own. Files that lie at the top of a part
 * have no row; they are only kept out of circles.
 *
 * @type {Record<string, string[][]>}
 */
export const ROOMS = {
  site: [['pages'], ['layouts'], ['components'], ['lib', 'styles']],
  api: [['routes'], ['http', 'cards', 'reading'], ['mount', 'search'], ['snapshot'], ['operator', 'people']],
  indexer: [['commands', 'action'], ['jobs', 'check', 'sweep'], ['pipeline'], ['search'], ['rules', 'reuse'], ['snapshot']],
  infra: [['monitoring', 'queue', 'github', 'local', 'worktree', 's3', 'postgres', 'disk', 'memory', 'system'], ['git']],
  core: [['search'], ['snapshot'], ['ports'], ['contract'], ['concurrency']],
  scripts: [['servers'], ['setup']],
  bin: [],
}

/** Lines. A bound on the median and the 90th percentile of functions, on every function, and on every file. */
export const BOUNDS = { median: 7, ninetieth: 20, longest: 100, file: 320 }

/**
 * @typedef {{ path: string, text: string }} Source `path` with slashes, from the root
 * @typedef {{ from: string, to: string, importer: string }} Arrow from one room of a part to another
 */

/**
 * The rooms of the sources, and the arrows between rooms of one part.
 *
 * @param {readonly Source[]} sources
 * @returns {{ rooms: Map<string, string[]>, arrows: Arrow[] }} `rooms`: the files of each room
 */
export function readRooms(sources) {
  /** @type {Map<string, string[]>} */
  const rooms = new Map()
  /** @type {Arrow[]} */
  const arrows = []
  for (const { path, text } of sources) {
    const from = roomOf(path)
    rooms.set(from, [...(rooms.get(from) ?? []), path])
    for (const imported of importsOf(path, text)) {
      const to = roomOf(imported)
      if (to !== from && partOf(to) === partOf(from)) arrows.push({ from, to, importer: path })
    }
  }
  return { rooms, arrows }
}

/**
 * What is wrong with the rooms, a line each.
 *
 * @param {ReturnType<typeof readRooms>} structure
 * @returns {string[]}
 */
export function findFaults({ rooms, arrows }) {
  const faults = []
  for (const room of rooms.keys()) {
    if (!isTopFile(room) && rowOf(room) < 0) faults.push(`${room} has no row in ROOMS (scripts/structure.mjs)`)
  }
  for (const { from, to, importer } of arrows) {
    const [upper, lower] = [rowOf(from), rowOf(to)]
    if (upper >= 0 && lower >= 0 && lower <= upper)
      faults.push(`${importer} imports ${to}, which lies ${lower < upper ? 'above' : 'beside'} it`)
  }
  const circle = findCircle(arrows)
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
  /** @type {{ lines: number, place: string }[]} */
  const files = []
  for (const { path, text } of sources.filter(({ path }) => /\.(ts|mjs)$/.test(path))) {
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
    files.push({ lines: lineOf(text.length) - 1, place: path })
  }
  return { functions: functions.sort(byLines), files: files.sort(byLines) }
}

/**
 * What is over its bound, a line each.
 *
 * @param {ReturnType<typeof measure>} sizes
 */
export function findExcess({ functions, files }) {
  const faults = []
  for (const [name, share, bound] of /** @type {const} */ ([
    ['median', 0.5, BOUNDS.median],
    ['90th percentile', 0.9, BOUNDS.ninetieth],
  ])) {
    const lines = percentile(functions, share)
    if (lines > bound) faults.push(`the ${name} of functions is ${lines} lines, more than ${bound}`)
  }
  for (const { lines, place } of functions)
    if (lines > BOUNDS.longest) faults.push(`${place}: a function of ${lines} lines, more than ${BOUNDS.longest}`)
  for (const { lines, place } of files) if (lines > BOUNDS.file) faults.push(`${place}: ${lines} lines, more than ${BOUNDS.file}`)
  return faults
}

/** @param {string} path @param {string} text @returns {string[]} paths of the files of the project that it imports */
function importsOf(path, text) {
  return ts.preProcessFile(text, true, true).importedFiles.flatMap(({ fileName }) => {
    if (fileName.startsWith('#')) return [fileName.slice(1)]
    return fileName.startsWith('.') ? [posix.normalize(posix.join(posix.dirname(path), fileName))] : []
  })
}

/** A folder right below a part, or a file that lies there. @param {string} path */
function roomOf(path) {
  return path.split('/').slice(0, 2).join('/')
}

/** @param {string} room */
function partOf(room) {
  return room.split('/', 1)[0] ?? ''
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

/** @param {readonly { lines: number }[]} sorted @param {number} share */
function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]?.lines ?? 0
}

/** The source files that git tracks. @param {string} root @returns {Source[]} */
export function readSources(root) {
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate', ...Object.keys(ROOMS)],
    { cwd: root, encoding: 'utf8' },
  )
  const paths = listed.split('\0').filter(path => /\.(ts|mjs|astro|css)$/.test(path) && !path.includes('/dist/'))
  return paths.flatMap(path => {
    try {
      return [{ path, text: readFileSync(join(root, path), 'utf8') }]
    } catch {
      return [] // removed and not yet staged
    }
  })
}

/** @param {ReturnType<typeof readRooms>} structure */
function draw({ rooms, arrows }) {
  const lines = []
  for (const [part, rows] of Object.entries(ROOMS)) {
    lines.push('', part)
    const top = [...rooms.keys()].filter(room => partOf(room) === part && isTopFile(room))
    if (top.length > 0) lines.push(`  ${top.map(file => file.slice(part.length + 1)).join('  ')}`)
    for (const row of rows) {
      for (const name of row) {
        const room = `${part}/${name}`
        const below = new Set(arrows.filter(({ from }) => from === room).map(({ to }) => to.slice(part.length + 1)))
        lines.push(
          `  ${row.indexOf(name) === 0 ? '└' : ' '} ${name} (${rooms.get(room)?.length ?? 0})${below.size > 0 ? ` -> ${[...below].sort().join(' ')}` : ''}`,
        )
      }
    }
  }
  return `${lines.join('\n')}\n`
}

/** @param {ReturnType<typeof measure>} sizes */
function summarise({ functions, files }) {
  const [median, ninetieth, longest] = [percentile(functions, 0.5), percentile(functions, 0.9), functions.at(-1)]
  return `\n${functions.length} functions: median ${median} lines, 90th percentile ${ninetieth}, longest ${longest?.lines} (${longest?.place}); longest file ${files.at(-1)?.lines} (${files.at(-1)?.place})\n`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const sources = readSources(dirname(dirname(fileURLToPath(import.meta.url))))
  const structure = readRooms(sources)
  const sizes = measure(sources)
  const faults = [...findFaults(structure), ...findExcess(sizes)]
  process.stdout.write(draw(structure) + summarise(sizes))
  for (const fault of faults) process.stdout.write(`${fault}\n`)
  if (faults.length > 0) process.exitCode = 1
}
