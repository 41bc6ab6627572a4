import { type Address, atPath, formatAddress } from '#core/address.ts'
import type { ChangesPage, SkillChangesPage } from '#core/contract/changes.ts'
import type { AnswerOf } from '#core/contract/endpoints.ts'
import { ROOT } from '#core/repo-path.ts'
import type { ApiClient, ApiResult } from './api-client.ts'
import { loadChangesList } from './changes-list.ts'
import { type FileDifference, loadFileDifference } from './file-difference.ts'
import { isSkillPath } from './links.ts'
import { type ChangedFile, loadSkillFiles } from './skill-files.ts'

/** A file at two commits. */
export interface FileChanges {
  commit: string
  from: { ref: string | null; commit: string }
  to: { ref: string | null; commit: string }
  file: FileDifference
}

/** What a comparison with an older side shows: a list, a skill, or one file. */
export type ChangesContent =
  | { kind: 'changes'; page: ChangesPage }
  | { kind: 'skill-changes'; page: SkillChangesPage; files: ChangedFile[] }
  | { kind: 'file-changes'; page: FileChanges }

export interface ChangesRequest {
  from: string
  /** A folder, a skill or a file. */
  path: string | undefined
  /** Of a file that moved: its old path. */
  was: string | undefined
  cursor: string | undefined
}

type Refused = Extract<ApiResult<'changes'>, { ok: false }>
type NotReady = Exclude<AnswerOf<'changes'>, { status: 'ready' }>

/** Errors by which the API says that a path is neither a folder nor a skill. */
const MAYBE_FILE = new Set(['mount.path_not_found', 'skill.not_found'])

/** The content, the state of a side that is not indexed, or the error of the API. */
export async function loadComparison(
  client: ApiClient,
  address: Address,
  request: ChangesRequest,
): Promise<{ status: number; content: ChangesContent } | { status: number; state: NotReady } | Refused> {
  const { from, path, cursor } = request
  const result =
    path !== undefined && isSkillPath(path)
      ? await client.get('changes', formatAddress(address), { from, skill: path, ...(cursor === undefined ? {} : { cursor }) })
      : await loadChangesList(client, address, { from, path, cursor })
  if (!result.ok) {
    const file =
      path !== undefined && MAYBE_FILE.has(result.error.code) ? await loadFile(client, address, { ...request, path }) : null
    return file === null ? result : { status: 200, content: { kind: 'file-changes', page: file } }
  }
  const { answer, status } = result
  if (answer.status !== 'ready') return { status, state: answer }
  if (!('skill' in answer)) return { status, content: { kind: 'changes', page: answer } }
  return { status, content: { kind: 'skill-changes', page: answer, files: await loadSkillFiles(client, address, answer) } }
}

/** `null` when no side has the file. Both are read at one commit each, whatever their branches do meanwhile. */
async function loadFile(
  client: ApiClient,
  address: Address,
  { from, path, was = path }: ChangesRequest & { path: string },
): Promise<FileChanges | null> {
  const root = atPath(address, ROOT)
  const [old, new_] = await Promise.all([
    client.get('mounts', formatAddress({ ...root, ref: from }), {}),
    client.get('mounts', formatAddress(root), {}),
  ])
  if (!old.ok || !new_.ok) return null
  const sides = { from: { ref: from, commit: old.answer.commit }, to: { ref: address.ref, commit: new_.answer.commit } }
  const placeAt = (commit: string, at: string) => ({ address: { ...address, ref: commit }, path: at })
  const file = await loadFileDifference(client, placeAt(sides.from.commit, was), placeAt(sides.to.commit, path))
  return file === null ? null : { commit: sides.to.commit, ...sides, file }
}
