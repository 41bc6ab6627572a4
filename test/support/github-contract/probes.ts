/**
 * What the product relies on at GitHub, question by question. The stand-in is held to it by the tests, the real host by
 * `npm run contract:github`. Every probe reads and changes nothing.
 */
export interface Probe {
  name: string
  host: 'api' | 'web'
  /** `POST` only where git asks so. */
  method?: 'GET' | 'POST'
  /** With placeholders `{owner}`; names are percent-encoded when they are filled in. `{=avatar}` is taken as it is, also as a whole address. */
  path: string
  headers?: Readonly<Record<string, string>>
  /** As somebody else than the rest: nobody, or with a token that is none. */
  as?: 'nobody' | 'nonsense'
  /** Lines that git sends; a flush follows. */
  gitLines?: readonly GitLine[]
  status: number
  /** What the headers match; `null`: there is none. A placeholder stands for what was learnt, word by word. */
  answerHeaders?: Readonly<Record<string, string | null>>
  /** The operation of GitHub's description that a JSON body is held to. */
  operation?: string
  /** Fields that are read, by their path, and what they may be. */
  fields?: Readonly<Record<string, string>>
  /** What the body matches, as Latin-1. */
  text?: string
  /** What later probes know from this one: a field of the body, a header, or the body itself. */
  learn?: Readonly<Record<string, `body.${string}` | `header.${string}` | 'text'>>
}

export type GitLine = string | typeof DELIMITER

/** Stands between the capabilities and the arguments of a command of git. */
export const DELIMITER = Symbol('delimiter')

/** What there is at the host that is probed. */
export interface Subjects {
  owner: string
  repository: string
  branch: string
  /** Annotated or not. */
  tag: string
  /** A text file at the root of the branch. */
  file: string
}

/** A small public repository that GitHub shows its API with. */
export const REAL_SUBJECTS: Subjects = { owner: 'octocat', repository: 'Hello-World', branch: 'master', tag: '', file: 'README' }

const SHA = { accept: 'application/vnd.github.sha' }
const JSON_TYPE = { 'content-type': '^application/json; charset=utf-8$' }
const LIMITS = {
  'x-ratelimit-limit': '^[0-9]+$',
  'x-ratelimit-remaining': '^[0-9]+$',
  'x-ratelimit-reset': '^[0-9]{10}$',
}
const REPO = '/repos/{owner}/{repository}'
const REPOSITORY_FIELDS = {
  id: 'number',
  name: 'string',
  'owner.login': 'string',
  'owner.avatar_url': 'string',
  default_branch: 'string',
  description: 'string|null',
  private: 'boolean',
  visibility: 'string',
  disabled: 'boolean',
}
const REFUSAL = { message: 'string' }

export const PROBES: readonly Probe[] = [
  {
    name: 'a repository',
    host: 'api',
    path: REPO,
    status: 200,
    answerHeaders: { ...JSON_TYPE, ...LIMITS, etag: '^W/"[0-9a-f]+"$', 'x-github-request-id': '.' },
    operation: 'GET /repos/{owner}/{repo}',
    fields: REPOSITORY_FIELDS,
    learn: { id: 'body.id', name: 'body.name', etag: 'header.etag', avatar: 'body.owner.avatar_url', login: 'body.owner.login' },
  },
  {
    name: 'a repository in another case',
    host: 'api',
    path: '/repos/{OWNER}/{REPOSITORY}',
    status: 200,
    fields: REPOSITORY_FIELDS,
    text: '"name": ?"{name}"',
  },
  { name: 'a repository that did not change', host: 'api', path: REPO, headers: { 'if-none-match': '{etag}' }, status: 304 },
  {
    name: 'a repository by its id',
    host: 'api',
    path: '/repositories/{id}',
    status: 200,
    fields: REPOSITORY_FIELDS,
    text: '"name": ?"{name}"',
  },
  {
    name: 'a repository that is not there',
    host: 'api',
    path: '/repos/{owner}/mountglass-probes-what-is-not-there',
    status: 404,
    answerHeaders: { ...JSON_TYPE, ...LIMITS },
    fields: REFUSAL,
    text: 'Not Found',
  },
  {
    name: 'with a token that is none',
    host: 'api',
    path: REPO,
    as: 'nonsense',
    status: 401,
    answerHeaders: JSON_TYPE,
    fields: REFUSAL,
    text: 'Bad credentials',
  },
  {
    name: 'in a version that is none',
    host: 'api',
    path: REPO,
    headers: { 'x-github-api-version': '2000-01-01' },
    status: 400,
    fields: REFUSAL,
  },
  {
    name: 'the commit of a branch',
    host: 'api',
    path: `${REPO}/commits/heads%2F{branch}`,
    headers: SHA,
    status: 200,
    answerHeaders: { 'content-type': '^application/vnd\\.github\\.sha', etag: '^"[0-9a-f]{40}"$' },
    text: '^[0-9a-f]{40}$',
    learn: { commit: 'text', tip: 'header.etag' },
  },
  {
    name: 'the commit of a branch that did not move',
    host: 'api',
    path: `${REPO}/commits/heads%2F{branch}`,
    headers: { ...SHA, 'if-none-match': '"{commit}"' },
    status: 304,
    answerHeaders: { etag: '^"{commit}"$' },
  },
  {
    name: 'the commit of a branch in full',
    host: 'api',
    path: `${REPO}/commits/refs%2Fheads%2F{branch}`,
    headers: SHA,
    status: 200,
    text: '^{commit}$',
  },
  {
    name: 'the commit behind a tag',
    host: 'api',
    path: `${REPO}/commits/tags%2F{tag}`,
    headers: SHA,
    status: 200,
    text: '^[0-9a-f]{40}$',
    learn: { tagged: 'text' },
  },
  {
    name: 'the commit behind a tag that did not move',
    host: 'api',
    path: `${REPO}/commits/tags%2F{tag}`,
    headers: { ...SHA, 'if-none-match': '"{tagged}"' },
    status: 304,
  },
  {
    name: 'the commit of a ref that is not there',
    host: 'api',
    path: `${REPO}/commits/heads%2Fmountglass-probes-what-is-not-there`,
    headers: SHA,
    status: 422,
    fields: REFUSAL,
    text: 'No commit found for SHA',
  },
  {
    name: 'a comparison of a commit with its branch',
    host: 'api',
    path: `${REPO}/compare/{branch}...{commit}?per_page=1`,
    status: 200,
    operation: 'GET /repos/{owner}/{repo}/compare/{basehead}',
    fields: { status: 'string', 'merge_base_commit.sha': 'string' },
    text: '"status": ?"identical"',
  },
  {
    name: 'a comparison with a commit that is not there',
    host: 'api',
    path: `${REPO}/compare/{branch}...0123456789012345678901234567890123456789?per_page=1`,
    status: 404,
    fields: REFUSAL,
  },
  {
    name: 'a whole tree',
    host: 'api',
    path: `${REPO}/git/trees/{commit}?recursive=1`,
    status: 200,
    operation: 'GET /repos/{owner}/{repo}/git/trees/{tree_sha}',
    fields: { truncated: 'boolean', 'tree.0.type': 'string', 'tree.0.sha': 'string' },
    learn: { entry: 'body.tree.0.sha' },
  },
  {
    name: 'an archive',
    host: 'api',
    path: `${REPO}/tarball/{commit}`,
    status: 302,
    answerHeaders: { location: '/legacy\\.tar\\.gz/{commit}$' },
  },
  {
    name: 'an account',
    host: 'api',
    path: '/users/{owner}',
    status: 200,
    operation: 'GET /users/{username}',
    fields: { login: 'string', id: 'number', type: 'string', avatar_url: 'string', bio: 'string|null' },
  },
  {
    name: 'an account that is not there',
    host: 'api',
    path: '/users/mountglass-probes-nobody-at-all',
    status: 404,
    fields: REFUSAL,
    text: 'Not Found',
  },
  {
    name: 'the repositories of an account',
    host: 'api',
    path: '/users/{owner}/repos?type=owner&sort=pushed&direction=desc&per_page=1',
    status: 200,
    answerHeaders: { link: '/user/[0-9]+/repos\\?[^>]*page=2[^>]*>; rel="next"' },
    operation: 'GET /users/{username}/repos',
    fields: { '0.id': 'number', '0.name': 'string', '0.private': 'boolean', '0.fork': 'boolean', '0.description': 'string|null' },
  },
  {
    name: 'what may be asked',
    host: 'api',
    path: '/rate_limit',
    status: 200,
    operation: 'GET /rate_limit',
    fields: { 'resources.core.limit': 'number', 'resources.core.remaining': 'number', 'resources.core.reset': 'number' },
  },
  {
    name: 'git, for the tip of a branch',
    host: 'web',
    method: 'POST',
    path: '/{owner}/{repository}.git/git-upload-pack',
    gitLines: ['command=ls-refs', DELIMITER, 'peel', 'ref-prefix refs/heads/', 'ref-prefix refs/tags/'],
    status: 200,
    answerHeaders: { 'content-type': '^application/x-git-upload-pack-result$' },
    text: '{commit} refs/heads/{branch}',
  },
  {
    name: 'git, for what lies behind a tag',
    host: 'web',
    method: 'POST',
    path: '/{owner}/{repository}.git/git-upload-pack',
    gitLines: ['command=ls-refs', DELIMITER, 'peel', 'ref-prefix refs/tags/{tag}'],
    status: 200,
    text: '{tagged}',
  },
  {
    name: 'git, whether everyone sees a repository',
    host: 'web',
    method: 'POST',
    path: '/{owner}/{repository}.git/git-upload-pack',
    as: 'nobody',
    gitLines: ['command=ls-refs', DELIMITER, 'peel', 'ref-prefix HEAD'],
    status: 200,
    answerHeaders: { 'content-type': '^application/x-git-upload-pack-result$' },
    text: '^[0-9a-f]{44} HEAD',
  },
  {
    name: 'git, for a commit by its id without blobs',
    host: 'web',
    method: 'POST',
    path: '/{owner}/{repository}.git/git-upload-pack',
    gitLines: ['command=fetch', DELIMITER, 'ofs-delta', 'no-progress', 'deepen 1', 'filter blob:none', 'want {commit}', 'done'],
    status: 200,
    text: '^[\\s\\S]*shallow-info[\\s\\S]*packfile[\\s\\S]*PACK',
  },
  {
    name: 'git, for a tree or blob by its id',
    host: 'web',
    method: 'POST',
    path: '/{owner}/{repository}.git/git-upload-pack',
    gitLines: ['command=fetch', DELIMITER, 'ofs-delta', 'no-progress', 'want {entry}', 'done'],
    status: 200,
    text: '^000dpackfile\\n[\\s\\S]*PACK',
  },
  {
    name: 'git, for what is not there',
    host: 'web',
    method: 'POST',
    path: '/{owner}/{repository}.git/git-upload-pack',
    gitLines: ['command=fetch', DELIMITER, 'ofs-delta', 'want 0123456789012345678901234567890123456789', 'done'],
    status: 200,
    text: 'ERR .*not our ref 0123456789012345678901234567890123456789',
  },
  {
    name: 'git, for a repository that is not there',
    host: 'web',
    method: 'POST',
    path: '/{owner}/mountglass-probes-what-is-not-there.git/git-upload-pack',
    as: 'nobody',
    gitLines: ['command=ls-refs', DELIMITER, 'peel', 'ref-prefix HEAD'],
    status: 401,
    answerHeaders: { 'www-authenticate': '^Basic ', 'content-type': '^text/plain' },
  },
  {
    name: 'a file by the address that people use',
    host: 'web',
    path: '/{owner}/{repository}/raw/{commit}/{file}',
    as: 'nobody',
    status: 302,
    answerHeaders: { location: '/{login}/{name}/{commit}/{file}$' },
  },
  {
    name: 'the picture of an account',
    host: 'web',
    path: '{=avatar}&s=128',
    as: 'nobody',
    status: 200,
    answerHeaders: { 'content-type': '^image/(png|jpeg|gif|webp)$' },
  },
]
