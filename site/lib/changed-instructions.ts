import { type Address, atPath, formatAddress } from '#core/address.ts'
import type { ChangesPage } from '#core/contract/changes.ts'
import type { ReadFirstFile } from '#core/contract/mount.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { ApiClient } from './api-client.ts'

/* The files that agents read before any skill, such as `CLAUDE.md`. The interface compares skills, documents and rules; these it serves as files. */

export interface ComparedInstruction {
  path: string
  change: 'added' | 'removed' | 'changed' | 'unchanged'
}

/** Those of the compared folder on either side. A link to another of them is that other one; one that cannot be read is left out. */
export async function loadInstructions(
  client: ApiClient,
  address: Address,
  { path, from, to }: Pick<ChangesPage, 'path' | 'from' | 'to'>,
): Promise<ComparedInstruction[]> {
  if (from.commit === to.commit) return []
  const folder = atPath(address, path as RepoPath)
  const [old, new_] = [
    { ...folder, ref: from.commit },
    { ...folder, ref: to.commit },
  ]
  const [before, after] = await Promise.all([filesOf(client, old), filesOf(client, new_)])
  const paths = [...new Set([...after, ...before].map(file => file.path))]
  const compared = await Promise.all(
    paths.map(async (file): Promise<ComparedInstruction[]> => {
      const [one, other] = await Promise.all([digestOf(client, old, before, file), digestOf(client, new_, after, file)])
      return one === null || other === null ? [] : [{ path: file, change: changeOf(one, other) }]
    }),
  )
  return compared.flat()
}

async function filesOf(client: ApiClient, address: Address): Promise<readonly ReadFirstFile[]> {
  const mount = await client.get('mounts', formatAddress(address), {})
  if (!mount.ok || mount.answer.index.status !== 'ready') return []
  const { files } = mount.answer.index.readFirst
  const names = new Set(files.map(({ path }) => path))
  return files.filter(({ target }) => target === undefined || !names.has(target))
}

const ABSENT = ''

/** `null` where the text cannot be read. */
async function digestOf(
  client: ApiClient,
  address: Address,
  files: readonly ReadFirstFile[],
  path: string,
): Promise<string | null> {
  if (!files.some(file => file.path === path)) return ABSENT
  const file = await client.get('files', formatAddress(address), { path, limit: '1' })
  return file.ok ? file.answer.sha256 : null
}

function changeOf(before: string, after: string): ComparedInstruction['change'] {
  if (before === after) return 'unchanged'
  return before === ABSENT ? 'added' : after === ABSENT ? 'removed' : 'changed'
}
