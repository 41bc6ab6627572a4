import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { loosePath } from '../git-objects.ts'
import type { Repository, World } from './world.ts'

export interface ObjectInfo {
  oid: string
  type: string
  sizeBytes: number
}

/*
 * Refs and commits that are files of their own, which need no git: most questions of the tests are about these, and a process of git takes
 * longer than everything else that the stand-in does.
 */

const COMMIT_NAME = /^(HEAD|[0-9a-f]{40}|refs\/(?:heads|tags|pull)\/[a-zA-Z0-9][a-zA-Z0-9/_-]*)\^\{commit\}$/

/** The commit of a name such as `refs/heads/main^{commit}`; `null` when there is none; `undefined` when it takes git to know. */
export async function findLoose(world: World, repository: Repository, name: string): Promise<ObjectInfo | null | undefined> {
  const named = COMMIT_NAME.exec(name)?.[1]
  if (named === undefined) return undefined
  const oid = /^[0-9a-f]{40}$/.test(named) ? named : await readRef(repository.gitDir, named)
  return oid === null || oid === undefined ? oid : readCommit(world, repository, oid)
}

async function readRef(gitDir: string, name: string): Promise<string | null | undefined> {
  const text = await readFile(join(gitDir, name), 'utf8').catch((error: NodeJS.ErrnoException) => error)
  if (typeof text !== 'string') {
    const isAbsent = text.code === 'ENOENT' && !existsSync(join(gitDir, 'packed-refs')) && !existsSync(join(gitDir, 'reftable'))
    return isAbsent ? null : undefined
  }
  const target = /^ref: (refs\/heads\/[a-zA-Z0-9][a-zA-Z0-9/_-]*)\n$/.exec(text)?.[1]
  if (name === 'HEAD' && target !== undefined) return readRef(gitDir, target)
  return /^([0-9a-f]{40})\n$/.exec(text)?.[1]
}

async function readCommit(world: World, repository: Repository, oid: string): Promise<ObjectInfo | undefined> {
  for (const { gitDir } of [repository, ...world.network(repository)]) {
    const stored = await readFile(loosePath(gitDir, oid)).catch(() => null)
    const size = stored && /^commit (\d+)\0/.exec(tryInflate(stored))?.[1]
    if (size) return { oid, type: 'commit', sizeBytes: Number(size) }
  }
  return undefined
}

function tryInflate(stored: Buffer): string {
  try {
    return inflateSync(stored).toString('latin1')
  } catch {
    return ''
  }
}
