import { fullName, nodeId, type Scene } from './bodies.ts'
import type { ChangedFile, CommitFacts } from './git.ts'
import type { JsonObject } from './schema.ts'
import type { Repository } from './world.ts'

export function commitBody(
  { origins }: Scene,
  repository: Repository,
  commit: CommitFacts,
  files: readonly ChangedFile[] | null,
): JsonObject {
  const base = `${origins.api}/repos/${fullName(repository)}`
  const page = `${origins.web}/${fullName(repository)}`
  const { sha, tree, parents, author, committer, message } = commit
  const sum = (pick: 'additions' | 'deletions') => files?.reduce((total, file) => total + file[pick], 0) ?? 0
  return {
    sha,
    node_id: nodeId('Commit', sha),
    commit: {
      author: { ...author },
      committer: { ...committer },
      message,
      tree: { sha: tree, url: `${base}/git/trees/${tree}` },
      url: `${base}/git/commits/${sha}`,
      comment_count: 0,
      verification: { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null },
    },
    url: `${base}/commits/${sha}`,
    html_url: `${page}/commit/${sha}`,
    comments_url: `${base}/commits/${sha}/comments`,
    author: null,
    committer: null,
    parents: parents.map(parent => ({ sha: parent, url: `${base}/commits/${parent}`, html_url: `${page}/commit/${parent}` })),
    ...(files && {
      stats: { total: sum('additions') + sum('deletions'), additions: sum('additions'), deletions: sum('deletions') },
      files: fileBodies({ origins }, repository, sha, files),
    }),
  }
}

const SHOWN_FILES = 300

export function fileBodies(
  { origins }: Pick<Scene, 'origins'>,
  repository: Repository,
  commit: string,
  files: readonly ChangedFile[],
): JsonObject[] {
  return files.slice(0, SHOWN_FILES).map(({ path, oid, status, additions, deletions }) => {
    const name = encodePath(path)
    return {
      sha: oid,
      filename: path,
      status,
      additions,
      deletions,
      changes: additions + deletions,
      blob_url: `${origins.web}/${fullName(repository)}/blob/${commit}/${name}`,
      raw_url: `${origins.web}/${fullName(repository)}/raw/${commit}/${name}`,
      contents_url: `${origins.api}/repos/${fullName(repository)}/contents/${name}?ref=${commit}`,
    }
  })
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
