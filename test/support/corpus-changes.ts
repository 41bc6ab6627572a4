import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { WITHHELD_TEXT } from './changing-repositories.ts'
import { createRandom } from './random.ts'

/* Edits that are laid over a working folder of a real repository, as its authors could make them. */

/** A folder that is edited. */
interface Edited {
  folder: string
  /** Of regular files, at the beginning of each edit. */
  paths: readonly string[]
  pick<Item>(items: readonly Item[]): Item | undefined
  /** Differs for each edit. */
  mark: string
}

/** Gives a repository what none of the corpus has: manifests, an include of all, an exclusion, a file too large to be served. */
export function prepareFolder(folder: string, seed: string): void {
  const edited = editedFolder(folder, seed, 'before')
  const skills = skillsOf(edited)
  // Every skill delivers it.
  const isShort = (path: string) => isSmallText(path) && statSync(join(folder, path)).size < 4_096
  const shared = edited.pick(edited.paths.filter(isShort)) ?? 'SKILLSET.md'
  writeManifest(edited, '', { include: [`/${shared}`], exclude: ['withheld-folder'] }, 'Rules of the root.\n')
  write(edited, 'withheld-folder/secret.md', `# Secret\n\n${WITHHELD_TEXT}\n`)
  for (const _ of [1, 2, 3]) {
    const skill = edited.pick(skills)
    if (skill !== undefined) writeManifest(edited, posix.dirname(skill), {}, `Rules of ${posix.basename(skill)}.\n`)
  }
  const [first] = skills
  if (first === undefined) return
  write(edited, `${first}/assets/large.bin`, largeProgram(1))
  write(edited, `${first}/assets/picture.png`, Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]))
}

/** Its zero bytes show that it is no text, so the indexer looks for no commands or hidden characters in it. */
function largeProgram(firstByte: number): Buffer {
  const bytes = Buffer.alloc(1_100_000)
  bytes[0] = firstByte
  return bytes
}

/** Makes every edit once where the repository has something that it concerns. @returns the names of the edits that were made */
export function editFolder(folder: string, seed: string): string[] {
  return Object.entries(EDITS).flatMap(([name, edit], number) =>
    edit(editedFolder(folder, `${seed} ${name}`, `${number}`)) ? [name] : [],
  )
}

/** @returns `false` when there was nothing to edit */
type Edit = (edited: Edited) => boolean

const EDITS: Readonly<Record<string, Edit>> = {
  'rules change': edited =>
    changeText(
      edited,
      path => path === 'SKILLSET.md',
      text => `${text}More: https://${edited.mark}.example/ and \u200bthis.\n`,
    ),
  'an include is another one': edited => {
    const other = edited.pick(edited.paths.filter(isSmallText))
    return changeText(
      edited,
      path => path === 'SKILLSET.md',
      text => text.replace(/^include: .*$/m, `include: [${JSON.stringify(`/${other}`)}, "/nowhere.md"]`),
    )
  },
  'more is excluded': edited => {
    const target = edited.pick(edited.paths.filter(path => /\.md$/.test(path) && !/SKILL(?:SET)?\.md$/.test(path)))
    return changeText(
      edited,
      path => path === 'SKILLSET.md',
      text => text.replace(/^exclude: .*$/m, `exclude: ["withheld-folder", ${JSON.stringify(escapePattern(`/${target}`))}]`),
    )
  },
  'a manifest comes': edited => {
    const skill = edited.pick(skillsOf(edited))
    const other = edited.pick(edited.paths.filter(isSmallText))
    if (skill === undefined || other === undefined || edited.paths.includes(`${skill}/SKILLSET.md`)) return false
    writeManifest(edited, skill, { include: [`/${other}`], exclude: ['*.py'] }, `Rules ${edited.mark}.\n`)
    return true
  },
  'a manifest goes': edited =>
    removeOne(
      edited,
      edited.paths.filter(path => path.endsWith('/SKILLSET.md')),
    ),
  'a license closes a folder': edited => {
    const folder = edited.pick([...skillsOf(edited), ...foldersOfDocuments(edited)])
    if (folder === undefined || edited.paths.includes(`${folder}/package.json`)) return false
    write(edited, `${folder}/package.json`, '{"license":"UNLICENSED"}\n')
    return true
  },
  'a skill has another license': edited =>
    changeSkill(edited, fields => `${fields.replace(/^license:.*\n/m, '')}license: ${edited.pick(['ISC', 'Proprietary'])}\n`),
  'a description changes': edited =>
    changeSkill(
      edited,
      fields => `${fields.replace(/^description:.*\n(?:[ \t]+.*\n)*/m, '')}description: About ${edited.mark}.\n`,
    ),
  'tools are allowed': edited =>
    changeSkill(
      edited,
      fields => `${fields.replace(/^allowed-tools:.*\n(?:[ \t-]+.*\n)*/m, '')}allowed-tools: Read Bash(git:*)\n`,
    ),
  'a skill includes a file': edited => {
    const target = edited.pick(edited.paths.filter(isSmallText))
    return changeSkill(edited, fields => `${fields.replace(/^include:.*\n/m, '')}include: [${JSON.stringify(`/${target}`)}]\n`)
  },
  'a body changes': edited =>
    changeText(edited, isSkill, text => `${text}\nSee https://${edited.mark}.example:8080/x and \u202ethat.\n`),
  'a body gets other line ends': edited => changeText(edited, isSkill, text => text.replace(/\r?\n/g, '\r\n')),
  'a body goes': edited => changeText(edited, isSkill, text => text.replace(/^(---\n[\s\S]*?\n---\n)[\s\S]*$/, '$1')),
  'front matter goes': edited => changeText(edited, isSkill, text => text.replace(/^---\n[\s\S]*?\n---\n/, '')),
  'a skill moves': edited => moveFolder(edited, skill => `moved-${edited.mark}/${posix.basename(skill)}`),
  'a skill moves and changes': edited => {
    const to = `moved-${edited.mark}/deeper/other-name`
    if (moveFolder(edited, () => to) === false) return false
    const path = join(edited.folder, to, 'SKILL.md')
    writeFileSync(path, `${readFileSync(path, 'utf8')}One more line ${edited.mark}.\n`)
    return true
  },
  'a skill goes': edited => {
    const skill = edited.pick(skillsOf(edited))
    if (skill === undefined) return false
    rmSync(join(edited.folder, skill), { recursive: true })
    return true
  },
  'a skill comes': edited => {
    const fields = `name: added-${edited.mark}\ndescription: New.\nallowed-tools: [Read, Write]\n`
    write(edited, `added-${edited.mark}/SKILL.md`, `---\n${fields}---\nVisit http://${edited.mark}.test/.\n`)
    write(edited, `added-${edited.mark}/scripts/run.sh`, '#!/bin/sh\n', 0o755)
    return true
  },
  'a document changes': edited =>
    changeText(edited, isDocument, text => `${text}\nAn \u00adend with https://user@${edited.mark}.example.\n`),
  'a title changes': edited =>
    changeText(edited, isDocument, text =>
      /^# /m.test(text) ? text.replace(/^# .*$/m, `# Title ${edited.mark}`) : `# New\n\n${text}`,
    ),
  'a document moves': edited => {
    const path = edited.pick(edited.paths.filter(isDocument))
    if (path === undefined) return false
    mkdirSync(join(edited.folder, `docs-${edited.mark}`), { recursive: true })
    renameSync(join(edited.folder, path), join(edited.folder, `docs-${edited.mark}`, posix.basename(path)))
    return true
  },
  'a document goes': edited => removeOne(edited, edited.paths.filter(isDocument)),
  'a document is no text any more': edited => {
    const path = edited.pick(edited.paths.filter(isDocument))
    if (path === undefined) return false
    write(edited, path, Buffer.from([0xff, 0xfe, 0, 65, 0]))
    return true
  },
  'a document begins with a byte order mark': edited => changeText(edited, isDocument, text => `\uFEFF${text}`),
  'a document becomes a link': edited => {
    const path = edited.pick(edited.paths.filter(isDocument))
    if (path === undefined) return false
    rmSync(join(edited.folder, path))
    symlinkSync('README.md', join(edited.folder, path))
    return true
  },
  'a link to a skill comes': edited => {
    const skill = edited.pick(skillsOf(edited))
    if (skill === undefined) return false
    symlinkSync(skill, join(edited.folder, `linked-${edited.mark}`))
    return true
  },
  'a file becomes executable': edited => {
    const path = edited.pick(filesOfSkills(edited))
    if (path === undefined) return false
    chmodSync(join(edited.folder, path), 0o755)
    return true
  },
  'a binary file changes': edited => {
    const path = edited.paths.find(one => one.endsWith('assets/picture.png'))
    if (path === undefined) return false
    write(edited, path, Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 9, 9]))
    return true
  },
  'a large file changes and keeps its size': edited => {
    const path = edited.paths.find(one => one.endsWith('assets/large.bin'))
    if (path === undefined) return false
    write(edited, path, largeProgram(2))
    return true
  },
  'a file of a skill goes': edited => removeOne(edited, filesOfSkills(edited)),
  'a license closes documents': edited => {
    const folder = edited.pick(foldersOfDocuments(edited))
    if (folder === undefined || edited.paths.includes(`${folder}/LICENSE`)) return false
    write(edited, `${folder}/LICENSE`, 'All rights reserved.\n')
    return true
  },
}

function editedFolder(folder: string, seed: string, mark: string): Edited {
  const random = createRandom('corpus', seed)
  return { folder, paths: regularFiles(folder), pick: items => items[Math.floor(random() * items.length)], mark }
}

/** The files of a clone. Its `.git` folder, which has more files than the rest, is not listed. */
function regularFiles(folder: string): string[] {
  const top = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== '.git')
  const below = top
    .filter(entry => entry.isDirectory())
    .flatMap(({ name }) => readdirSync(join(folder, name), { recursive: true, withFileTypes: true }))
  return [...top, ...below]
    .filter(entry => entry.isFile())
    .map(entry => posix.join(entry.parentPath.slice(folder.length + 1), entry.name))
    .sort()
}

const isSkill = (path: string) => posix.basename(path) === 'SKILL.md'
const isSmallText = (path: string) => /\.(?:md|txt)$/.test(path) && !/(?:SKILL|SKILLSET)\.md$|^withheld-folder/.test(path)
/** Most likely: the service and the oracle say what is one. */
const isDocument = (path: string) =>
  /^[^.].*[a-z0-9]\.md$/.test(path) && !/\/\.|skills?\/|readme|withheld|moved-|added-/i.test(path)

function skillsOf({ paths }: Edited): string[] {
  return paths.filter(path => isSkill(path) && path !== 'SKILL.md').map(path => posix.dirname(path))
}

function filesOfSkills(edited: Edited): string[] {
  const skills = new Set(skillsOf(edited))
  const foldersAbove = (path: string) => path.split('/').map((_, depth, segments) => segments.slice(0, depth).join('/'))
  return edited.paths.filter(
    path => !/SKILL(?:SET)?\.md$|package\.json$/.test(path) && foldersAbove(path).some(folder => skills.has(folder)),
  )
}

function foldersOfDocuments({ paths }: Edited): string[] {
  return [...new Set(paths.filter(isDocument).map(path => posix.dirname(path)))].filter(folder => folder !== '.')
}

function changeText(edited: Edited, isMeant: (path: string) => boolean, change: (text: string) => string): boolean {
  const path = edited.pick(edited.paths.filter(isMeant))
  const text = path === undefined ? null : readFileSync(join(edited.folder, path), 'utf8')
  if (path === undefined || text === null || change(text) === text) return false
  write(edited, path, change(text))
  return true
}

/** Changes the front matter of a skill that has one. @param change of its lines */
function changeSkill(edited: Edited, change: (fields: string) => string): boolean {
  return changeText(edited, isSkill, text =>
    text.replace(/^---\n([\s\S]*?\n)---\n/, (_, fields) => `---\n${change(fields)}---\n`),
  )
}

function removeOne(edited: Edited, paths: readonly string[]): boolean {
  const path = edited.pick(paths)
  if (path !== undefined) rmSync(join(edited.folder, path))
  return path !== undefined
}

function moveFolder(edited: Edited, target: (skill: string) => string): boolean {
  const skill = edited.pick(skillsOf(edited))
  if (skill === undefined) return false
  const to = join(edited.folder, target(skill))
  mkdirSync(dirname(to), { recursive: true })
  renameSync(join(edited.folder, skill), to)
  return true
}

function writeManifest(
  edited: Edited,
  folder: string,
  { include = [], exclude = [] }: { include?: string[]; exclude?: string[] },
  rules: string,
): void {
  const fields = `name: ${folder === '' ? 'root' : posix.basename(folder)}\ninclude: ${JSON.stringify(include)}\nexclude: ${JSON.stringify(exclude)}\n`
  write(edited, posix.join(folder, 'SKILLSET.md'), `---\n${fields}---\n${rules}`)
}

function write({ folder }: Edited, path: string, content: string | Uint8Array, mode = 0o644): void {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  if (existsSync(file)) rmSync(file)
  writeFileSync(file, content, { mode })
}

function escapePattern(text: string): string {
  return text.replace(/[\\*?[\]!# ]/g, '\\$&')
}
