import { createHash } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { DESCRIPTION_CHARACTERS } from '#core/limits.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { truncateCharacters } from '#core/text.ts'
import { ifAbsent, readRealText } from '../git/contained.ts'
import { type Place, readHead } from './place.ts'
import type { Watch } from './signatures.ts'

/** A file of this name in the git dir makes the repository private. */
const PRIVATE_MARKER = 'mountglass-private'
const NO_DESCRIPTION = /^Unnamed repository; edit this file/

/** What the files of a repository say of it; `null` without a HEAD. */
export async function describeRepository(place: Place, watch: Watch): Promise<HostRepository | null> {
  const { owner, name } = place.named
  // Somebody who puts the file beside the `.git` folder wants the same.
  const folders = basename(place.commonDir) === '.git' ? [place.commonDir, dirname(place.commonDir)] : [place.commonDir]
  const markers = folders.map(folder => join(folder, PRIVATE_MARKER))
  const descriptionFile = join(place.commonDir, 'description')
  watch(place.commonDir, 'entries')
  const configFile = join(place.commonDir, 'config')
  for (const path of [join(place.gitDir, 'HEAD'), descriptionFile, configFile, ...markers.slice(1)]) watch(path)
  const [head, description, config, ...marks] = await Promise.all([
    readHead(place.gitDir),
    readRealText(descriptionFile),
    readRealText(configFile),
    ...markers.map(marker => lstat(marker).catch(ifAbsent)),
  ])
  if (head === null) return null
  return Object.freeze({
    id: `local-${createHash('sha256').update(`${owner}/${name}`).digest('hex').slice(0, 32)}`,
    host: 'local',
    owner,
    name,
    defaultBranch: 'ref' in head ? head.ref.replace(/^refs\/heads\//, '') : 'HEAD',
    description: shapeDescription(description ?? ''),
    avatar: null,
    visibility: marks.every(mark => mark === null) ? 'public' : 'private',
    ...(namesObjectsBySha256(config ?? '') ? { objectFormat: 'sha256' as const } : {}),
    ...(place.main ? { main: place.main } : {}),
  })
}

function shapeDescription(text: string): string | null {
  const trimmed = text.trim()
  return trimmed === '' || NO_DESCRIPTION.test(trimmed) ? null : truncateCharacters(trimmed, DESCRIPTION_CHARACTERS)
}

/** By `extensions.objectFormat` of git's configuration. */
function namesObjectsBySha256(config: string): boolean {
  return config.split('\n').some(line => /^(?:\[extensions\])?objectformat=sha256$/i.test(line.replace(/[\s"]/g, '')))
}
