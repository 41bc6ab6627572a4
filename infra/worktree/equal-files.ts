import { SKILL_FILE } from '#core/repo-path.ts'

interface SizedFile {
  path: string
  sizeBytes: number
}

/**
 * The files that may be copies of others, by their places and sizes: those in folders of skills whose `SKILL.md` are of one size, where another of
 * the folders has a file of the same size under the same name. Only their bytes tell whether they are.
 */
export function perhapsEqual(files: readonly SizedFile[]): Set<string> {
  const sizes = new Map(files.flatMap(({ path, sizeBytes }) => (isSkill(path) ? [[folderOf(path), sizeBytes] as const] : [])))
  const skillsOf = Map.groupBy(sizes.values(), size => size)
  const places = new Map<string, string[]>()
  for (const { path, sizeBytes } of files) {
    for (const folder of foldersAbove(path)) {
      const size = sizes.get(folder)
      if (size === undefined || (skillsOf.get(size)?.length ?? 0) < 2) continue
      const place = `${size} ${sizeBytes} ${path.slice(folder.length)}`
      const paths = places.get(place)
      if (paths) paths.push(path)
      else places.set(place, [path])
    }
  }
  return new Set([...places.values()].filter(paths => paths.length > 1).flat())
}

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
