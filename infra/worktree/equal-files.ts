import { SKILL_FILE } from '#core/repo-path.ts'

interface SizedFile {
  path: string
  sizeBytes: number
}

/**
 * The files that may be copies of others, by their places and sizes: those in folders of skills whose `SKILL.md` are of one size, where another of
 * the folders has a file of the same size under the same name; and, where there are such skills, licenses and notices of the same size and name, which
 * belong to what is installed. Only their bytes tell whether they are.
 */
export function perhapsEqual(files: readonly SizedFile[]): Set<string> {
  const sizes = new Map(files.flatMap(({ path, sizeBytes }) => (isSkill(path) ? [[folderOf(path), sizeBytes] as const] : [])))
  const skillsOf = Map.groupBy(sizes.values(), size => size)
  const isAnyPerhapsCopy = [...skillsOf.values()].some(same => same.length > 1)
  const places = new Map<string, string[]>()
  const put = (place: string, path: string) => {
    const paths = places.get(place)
    if (paths) paths.push(path)
    else places.set(place, [path])
  }
  for (const { path, sizeBytes } of files) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (isAnyPerhapsCopy && NOTICE.test(name)) put(`notice ${sizeBytes} ${name}`, path)
    for (const folder of foldersAbove(path)) {
      const size = sizes.get(folder)
      if (size === undefined || (skillsOf.get(size)?.length ?? 0) < 2) continue
      put(`${size} ${sizeBytes} ${path.slice(folder.length)}`, path)
    }
  }
  return new Set([...places.values()].filter(paths => paths.length > 1).flat())
}

const NOTICE = /licen[cs]e|^(?:copying|copyright|notice)/i

function isSkill(path: string): boolean {
  return path === SKILL_FILE || path.endsWith(`/${SKILL_FILE}`)
}

/** With its last slash; empty for the root. */
function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}

function foldersAbove(path: string): string[] {
  const folders = ['']
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) folders.push(path.slice(0, at + 1))
  return folders
}
