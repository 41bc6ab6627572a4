import { fullName, fullRepository } from '../bodies.ts'
import { commitBody, fileBodies } from '../commit-bodies.ts'
import { changedFiles, compareCommits, findObject, readCommits, readTree, resolveRef, type TreeRow } from '../git.ts'
import type { JsonObject } from '../schema.ts'
import type { Repository } from '../world.ts'
import { accepts, type Call, cutPage, notFound, type RestAnswer, type Route, refuse, withRepository } from './call.ts'

const EMPTY = 'Git Repository is empty.'

export const REPOSITORY_ROUTES: readonly Route[] = [
  {
    operation: 'GET /repos/{owner}/{repo}',
    docs: 'repos/repos#get-a-repository',
    answer: call =>
      withRepository(call, 'metadata', async repository => {
        const json = await fullRepository(call, repository)
        return { status: 200, json, headers: { 'last-modified': new Date(String(json.updated_at)).toUTCString() } }
      }),
  },
  {
    operation: 'GET /repos/{owner}/{repo}/commits',
    docs: 'commits/commits#list-commits',
    answer: call => withRepository(call, 'contents', repository => answerCommits(call, repository)),
  },
  {
    operation: 'GET /repos/{owner}/{repo}/commits/{ref}',
    docs: 'commits/commits#get-a-commit',
    greedy: true,
    answer: call => withRepository(call, 'contents', repository => answerCommit(call, repository)),
  },
  {
    operation: 'GET /repos/{owner}/{repo}/compare/{basehead}',
    docs: 'commits/commits#compare-two-commits',
    greedy: true,
    answer: call => withRepository(call, 'contents', repository => answerCompare(call, repository)),
  },
  {
    operation: 'GET /repos/{owner}/{repo}/git/trees/{tree_sha}',
    docs: 'git/trees#get-a-tree',
    greedy: true,
    answer: call => withRepository(call, 'contents', repository => answerTree(call, repository)),
  },
]

const LISTED_COMMITS = 1_000

/** From `sha` backwards, those that changed `path`. A path that is nothing has no commits. */
async function answerCommits(call: Call, repository: Repository): Promise<RestAnswer> {
  const { world, request } = call
  const resolved = await resolveRef(world, repository, request.query.get('sha') ?? 'HEAD')
  if (resolved.status === 'empty') return refuse(call, 409, EMPTY)
  if (resolved.status === 'missing') return notFound(call)
  const path = request.query.get('path') ?? ''
  const all = await readCommits(world, repository, [resolved.commit], LISTED_COMMITS, 0, path === '' ? [] : [path])
  const { items, headers } = cutPage(call, all, `/repositories/${repository.id}/commits`)
  return { status: 200, json: items.map(commit => commitBody(call, repository, commit, null)), headers }
}

async function answerCommit(call: Call, repository: Repository): Promise<RestAnswer> {
  const { world, params, request } = call
  const ref = params[2] ?? ''
  const resolved = await resolveRef(world, repository, ref)
  if (resolved.status === 'empty') return refuse(call, 409, EMPTY)
  if (resolved.status === 'missing') return refuse(call, 422, `No commit found for SHA: ${ref}`)
  if (accepts(request, 'sha')) {
    const headers = { 'content-type': 'application/vnd.github.sha; charset=utf-8' }
    return { status: 200, body: resolved.commit, headers, etag: `"${resolved.commit}"` }
  }
  const [commit] = await readCommits(world, repository, [resolved.commit], 1)
  if (!commit) return notFound(call)
  const files = await changedFiles(world, repository, commit.parents[0] ?? null, commit.sha)
  return { status: 200, json: commitBody(call, repository, commit, files) }
}

const COMPARED_COMMITS = 250

/** `base...head`; the commits come oldest first, the files with the first page alone. */
async function answerCompare(call: Call, repository: Repository): Promise<RestAnswer> {
  const { world, origins, params, request } = call
  const [base = '', head = '', ...more] = (params[2] ?? '').split('...')
  if (base === '' || head === '' || more.length > 0) return notFound(call)
  const [from, to] = await Promise.all([base, head].map(ref => resolveRef(world, repository, ref)))
  if (from?.status !== 'ok' || to?.status !== 'ok') return notFound(call)
  const comparison = await compareCommits(world, repository, from.commit, to.commit)
  if (comparison === null) return refuse(call, 404, `No common ancestor between ${base} and ${head}.`)

  const { mergeBase, aheadBy, behindBy } = comparison
  const isPaged = request.query.has('per_page') || request.query.has('page')
  const places = Array.from({ length: aheadBy }, (_, place) => place)
  const path = `/repositories/${repository.id}/compare/${encodeURIComponent(base)}...${encodeURIComponent(head)}`
  const page = isPaged ? cutPage(call, places, path) : { items: places.slice(-COMPARED_COMMITS), headers: {} }
  const first = page.items[0] ?? 0
  const count = page.items.length
  const [baseCommit, mergeBaseCommit] = await Promise.all(
    [from.commit, mergeBase].map(async commit => (await readCommits(world, repository, [commit], 1))[0]),
  )
  if (!baseCommit || !mergeBaseCommit) return notFound(call)
  const range = [`${mergeBase}..${to.commit}`]
  const commits = count === 0 ? [] : await readCommits(world, repository, range, count, aheadBy - first - count)
  const isFirst = Number(request.query.get('page') ?? 1) <= 1
  const files = isFirst ? await changedFiles(world, repository, mergeBase, to.commit) : []
  const web = `${origins.web}/${fullName(repository)}/compare/${base}...${head}`
  return {
    status: 200,
    headers: page.headers,
    json: {
      url: `${origins.api}/repos/${fullName(repository)}/compare/${base}...${head}`,
      html_url: web,
      permalink_url: `${origins.web}/${fullName(repository)}/compare/${from.commit}...${to.commit}`,
      diff_url: `${web}.diff`,
      patch_url: `${web}.patch`,
      base_commit: commitBody(call, repository, baseCommit, null),
      merge_base_commit: commitBody(call, repository, mergeBaseCommit, null),
      status: aheadBy > 0 ? (behindBy > 0 ? 'diverged' : 'ahead') : behindBy > 0 ? 'behind' : 'identical',
      ahead_by: aheadBy,
      behind_by: behindBy,
      total_commits: aheadBy,
      commits: commits.reverse().map(commit => commitBody(call, repository, commit, null)),
      files: fileBodies(call, repository, to.commit, files),
    },
  }
}

const OID = /^[0-9a-f]{40}$/

/** By the id of a tree or commit, or by a ref. Anything that stands for `recursive` means yes, `0` and `false` too. */
async function answerTree(call: Call, repository: Repository): Promise<RestAnswer> {
  const { world, origins, params, request } = call
  const name = params[2] ?? ''
  const object = OID.test(name) ? await findObject(world, repository, name) : null
  const resolved = object?.type === 'tree' ? null : await resolveRef(world, repository, name)
  if (resolved?.status === 'empty') return refuse(call, 409, EMPTY)
  if (resolved?.status === 'missing') return notFound(call)
  // That a commit's or ref's answer carries the commit's id as `sha` is UNVERIFIED: a driver must not depend on it.
  const oid = resolved?.commit ?? name
  const recursive = (request.query.get('recursive') ?? '') !== ''
  const { rows, cut } = await readTree(world, repository, oid, recursive, repository.treeLimit)
  const base = `${origins.api}/repos/${fullName(repository)}/git`
  const entries = rows.map(row => treeEntry(base, row))
  const tree = cutAtBytes(entries, TREE_BYTES)
  const truncated = cut || tree.length < entries.length
  return { status: 200, json: { sha: oid, url: `${base}/trees/${oid}`, tree, truncated } }
}

const TREE_BYTES = 7 * 1024 * 1024

/** The first entries whose JSON together stays below the limit. */
function cutAtBytes(entries: JsonObject[], limit: number): JsonObject[] {
  let size = 0
  const end = entries.findIndex(entry => {
    size += JSON.stringify(entry).length + 1
    return size > limit
  })
  return end < 0 ? entries : entries.slice(0, end)
}

/** A submodule has neither size nor address. */
function treeEntry(base: string, { path, mode, type, oid, sizeBytes }: TreeRow): JsonObject {
  return {
    path,
    mode,
    type,
    sha: oid,
    ...(sizeBytes === null ? {} : { size: sizeBytes }),
    ...(type === 'commit' ? {} : { url: `${base}/${type}s/${oid}` }),
  }
}
