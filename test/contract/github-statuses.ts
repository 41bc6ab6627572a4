import type { Fault } from '#test/support/fake-github/faults.ts'

/** A row of the table in `docs/github.md`: what GitHub answers to a question, and what the driver reads in it. */
export interface StatusRow {
  question: Question
  status: number
  situation: string
  /** Where the answer is known from. */
  source: string
  /** What a visitor, or a job that reads, comes to know. */
  reading: Reading
  /** What the stand-in answers instead of its own answer. `null`: its own, after `prepare` of the test. */
  answer: Fault | null
  /** The first question has the operator's token. Default: none has. */
  isWithToken?: boolean
}

export type Question =
  | 'GET /repos/{owner}/{repo}'
  | 'GET /repositories/{id}'
  | 'GET /repos/{owner}/{repo}/commits/{ref}'
  | 'GET /repos/{owner}/{repo}/commits'
  | 'GET /repos/{owner}/{repo}/compare/{basehead}'
  | 'GET /repos/{owner}/{repo}/git/trees/{tree_sha}'
  | 'GET /users/{username}'
  | 'GET /users/{username}/repos'
  | 'GET /orgs/{org}'
  | 'GET /rate_limit'
  | 'GET /user/repos'
  | 'GET /user'
  | 'GET /user/installations'
  | 'GET /user/installations/{installation_id}/repositories'
  | 'GET /repos/{owner}/{repo}/installation'
  | 'POST /app/installations/{installation_id}/access_tokens'
  | 'POST git-upload-pack'

export type Reading =
  | 'shown'
  | 'missing'
  | 'unavailable'
  | 'rate limited'
  | 'read'
  | 'not read now'
  | 'read without this file'
  | 'without a description'
  | 'sees public repositories only'
  | 'may see private repositories'
  | 'not known'
  | 'signed out'

const DESCRIPTION = 'description'
const DOCUMENTATION = 'documentation'
const RECORDING = 'recording'

type Row = [status: number, situation: string, source: string, reading: Reading, answer?: Fault | null, isWithToken?: boolean]

const PLAIN = { 'content-type': 'text/plain' }
const message = (text: string): Fault => ({ body: JSON.stringify({ message: text }) })
const git = (body: string, headers: Record<string, string> = {}): Fault => ({ body, headers: { ...PLAIN, ...headers } })
const packet = (text: string): Fault => ({
  body: (text.length + 4).toString(16).padStart(4, '0') + text,
  headers: { 'content-type': 'application/x-git-upload-pack-result' },
})

const NOT_FOUND = message('Not Found')
const SERVER_ERROR = message('Server Error')
const UNSUPPORTED = message('Unsupported API version: 2026-03-10')
const SUSPENDED = message('Sorry. Your account was suspended.')
const BAD_CREDENTIALS = message('Bad credentials')
const INTEGRATION = message('Resource not accessible by integration')
const REFUSED = message('`acme` forbids access via a personal access token (classic).')

const NOT_ON_LIST = message('The `acme` organization has an IP allow list enabled, and your IP address is not permitted.')

const ROWS: Record<Question, readonly Row[]> = {
  'GET /repos/{owner}/{repo}': [
    [200, 'public', RECORDING, 'shown'],
    [200, 'private or internal', DESCRIPTION, 'missing'],
    [301, 'renamed or moved', RECORDING, 'shown'],
    [304, 'as the etag says', DOCUMENTATION, 'shown'],
    [400, 'unsupported version of the API', DOCUMENTATION, 'unavailable', UNSUPPORTED],
    [401, 'the token is not valid', RECORDING, 'shown', { ...BAD_CREDENTIALS, times: 1 }, true],
    [403, 'the organization refuses the token', 'composer/composer#12711', 'shown', { ...REFUSED, times: 1 }, true],
    [403, 'an IP allow list lacks this server', 'xaf/omni#670', 'shown', { ...NOT_ON_LIST, times: 1 }, true],
    [403, 'the account of the token is suspended', 'report', 'shown', { ...SUSPENDED, times: 1 }, true],
    [403, 'refused to everybody', DESCRIPTION, 'unavailable', message('Something new')],
    [403, 'blocked by GitHub staff', DESCRIPTION, 'missing', message('Repository access blocked')],
    [
      403,
      'rate limit',
      DOCUMENTATION,
      'rate limited',
      { ...message('API rate limit exceeded'), headers: { 'x-ratelimit-remaining': '0' } },
    ],
    [403, 'secondary rate limit', DOCUMENTATION, 'rate limited', { ...message('Wait'), headers: { 'retry-after': '60' } }],
    [404, 'absent, or not to be seen', DESCRIPTION, 'missing', NOT_FOUND],
    [410, 'retired version of the API', DOCUMENTATION, 'unavailable', message('This API version is no longer supported.')],
    [429, 'rate limit', DOCUMENTATION, 'rate limited', message('API rate limit exceeded')],
    [451, 'blocked by law', DOCUMENTATION, 'missing', message('Repository access blocked')],
    [500, 'failure', DOCUMENTATION, 'unavailable', SERVER_ERROR],
    [502, 'failure', DOCUMENTATION, 'unavailable', SERVER_ERROR],
    [503, 'failure', DOCUMENTATION, 'unavailable', SERVER_ERROR],
  ],
  'GET /repositories/{id}': [
    [200, 'asked for the new name of a repository that git does not find', RECORDING, 'read'],
    [404, 'the repository is gone', DOCUMENTATION, 'not read now', NOT_FOUND],
  ],
  'GET /repos/{owner}/{repo}/commits/{ref}': [
    [200, 'the hash, as text', DOCUMENTATION, 'shown'],
    [304, 'as the etag, which is the hash', DOCUMENTATION, 'shown'],
    [
      403,
      'rate limit: git tells the commit',
      DOCUMENTATION,
      'shown',
      { ...message('API rate limit exceeded'), headers: { 'x-ratelimit-remaining': '0' } },
    ],
    [404, 'the repository is gone: it is asked for', DESCRIPTION, 'missing', NOT_FOUND],
    [409, 'the repository is empty', DESCRIPTION, 'missing', message('Git Repository is empty.')],
    [422, 'no such ref', DESCRIPTION, 'missing', message('No commit found for SHA: main')],
    [500, 'failure', DESCRIPTION, 'unavailable', SERVER_ERROR],
    [503, 'failure', DESCRIPTION, 'unavailable', SERVER_ERROR],
  ],
  'GET /repos/{owner}/{repo}/commits': [
    [200, 'the commits of a file', DESCRIPTION, 'shown'],
    [400, 'not valid', DESCRIPTION, 'unavailable', message('Bad Request')],
    [
      403,
      'rate limit',
      DOCUMENTATION,
      'rate limited',
      { ...message('API rate limit exceeded'), headers: { 'x-ratelimit-remaining': '0' } },
    ],
    [404, 'the repository is gone, which the next visit finds', DESCRIPTION, 'unavailable', NOT_FOUND],
    [409, 'the repository is empty', DESCRIPTION, 'unavailable', message('Git Repository is empty.')],
    [500, 'failure', DESCRIPTION, 'unavailable', SERVER_ERROR],
  ],
  'GET /repos/{owner}/{repo}/compare/{basehead}': [
    [200, 'behind the default branch', DESCRIPTION, 'shown'],
    [404, 'no such commit', DESCRIPTION, 'missing', NOT_FOUND],
    [404, 'no common ancestor: the history decides', DOCUMENTATION, 'shown', message('No common ancestor between main and 1')],
    [422, 'too large: the history decides', 'report', 'shown', message('Server Error: this diff is taking too long')],
    [500, 'too large: the history decides', DESCRIPTION, 'shown', SERVER_ERROR],
    [503, 'too large: the history decides', DESCRIPTION, 'shown', SERVER_ERROR],
  ],
  'GET /repos/{owner}/{repo}/git/trees/{tree_sha}': [
    [200, 'sizes of the files', DESCRIPTION, 'read'],
    [404, 'no sizes: the blobs tell them', DESCRIPTION, 'read', NOT_FOUND],
    [409, 'no sizes: the blobs tell them', DESCRIPTION, 'read', message('Git Repository is empty.')],
    [422, 'no sizes: the blobs tell them', DESCRIPTION, 'read', message('Validation Failed')],
  ],
  'GET /users/{username}': [
    [200, 'a user', DESCRIPTION, 'shown'],
    [404, 'absent', DESCRIPTION, 'missing', NOT_FOUND],
  ],
  'GET /users/{username}/repos': [
    [200, 'a page', DESCRIPTION, 'shown'],
    [404, 'the account is gone', DOCUMENTATION, 'missing', NOT_FOUND],
  ],
  'GET /orgs/{org}': [
    [200, 'an organization', RECORDING, 'shown'],
    [404, 'the account became one of a user', DESCRIPTION, 'without a description', NOT_FOUND],
  ],
  'GET /rate_limit': [
    [200, 'the token is known', DESCRIPTION, 'sees public repositories only', null, true],
    [304, 'no etag is ever sent', DESCRIPTION, 'not known', {}, true],
    [404, 'an Enterprise Server without limits', DESCRIPTION, 'not known', NOT_FOUND, true],
  ],
  'GET /user/repos': [
    [200, 'no private repository', DESCRIPTION, 'sees public repositories only', null, true],
    [304, 'no etag is ever sent', DESCRIPTION, 'may see private repositories', {}, true],
    [401, 'the token is not valid', DESCRIPTION, 'may see private repositories', BAD_CREDENTIALS, true],
    [403, 'refused', DESCRIPTION, 'may see private repositories', message('Resource not accessible'), true],
    [422, 'not valid', DESCRIPTION, 'may see private repositories', message('Validation Failed'), true],
  ],
  'GET /user': [
    [200, 'the account of a person', DESCRIPTION, 'shown'],
    [304, 'no etag is ever sent', DESCRIPTION, 'unavailable', {}],
    [401, 'the sign-in ended', DESCRIPTION, 'signed out', BAD_CREDENTIALS],
    [403, 'refused', DESCRIPTION, 'missing', INTEGRATION],
    [403, 'an IP allow list lacks this server', 'xaf/omni#670', 'unavailable', NOT_ON_LIST],
  ],
  'GET /user/installations': [
    [200, 'those that the person reaches', DESCRIPTION, 'shown'],
    [304, 'no etag is ever sent', DESCRIPTION, 'unavailable', {}],
    [401, 'the sign-in ended', DESCRIPTION, 'signed out', BAD_CREDENTIALS],
    [403, 'refused', DESCRIPTION, 'unavailable', INTEGRATION],
  ],
  'GET /user/installations/{installation_id}/repositories': [
    [200, 'a page', DESCRIPTION, 'shown'],
    [304, 'no etag is ever sent', DESCRIPTION, 'unavailable', {}],
    [403, 'suspended a moment ago: left out', DESCRIPTION, 'shown', message('This installation has been suspended')],
    [403, 'an IP allow list lacks this server: left out', 'xaf/omni#670', 'shown', NOT_ON_LIST],
    [404, 'removed a moment ago: left out', DESCRIPTION, 'shown', NOT_FOUND],
  ],
  'GET /repos/{owner}/{repo}/installation': [
    [200, 'the App is installed', DESCRIPTION, 'shown'],
    [301, 'renamed a moment ago: the next visit has the new name', DESCRIPTION, 'unavailable', { headers: { location: '/' } }],
    [403, 'an IP allow list lacks this server', 'xaf/omni#670', 'unavailable', NOT_ON_LIST],
    [404, 'the App is not installed', DESCRIPTION, 'missing', NOT_FOUND],
  ],
  'POST /app/installations/{installation_id}/access_tokens': [
    [201, 'a token for one repository', DESCRIPTION, 'shown'],
    [401, 'the key of the App is not valid', DESCRIPTION, 'unavailable', message('A JSON web token could not be decoded')],
    [403, 'the installation is suspended', DESCRIPTION, 'missing', message('This installation has been suspended')],
    [403, 'an IP allow list lacks this server', 'xaf/omni#670', 'unavailable', NOT_ON_LIST],
    [404, 'the installation is gone', DESCRIPTION, 'missing', NOT_FOUND],
    [422, 'the installation does not reach the repository', DESCRIPTION, 'missing', message('There is at least one repository')],
  ],
  'POST git-upload-pack': [
    [200, 'refs or objects', RECORDING, 'shown'],
    [
      200,
      'an error packet: throttled',
      'cli/cli#14329',
      'rate limited',
      packet('ERR GitHub is temporarily limiting some unauthenticated downloads.'),
    ],
    [301, 'renamed', DOCUMENTATION, 'unavailable', { headers: { location: '/other/name.git/git-upload-pack' } }],
    [401, 'absent, or not to be seen', RECORDING, 'missing', git('Repository not found.\n')],
    [401, 'the token is not valid', DOCUMENTATION, 'shown', { ...git('Invalid username or token.\n'), times: 1 }, true],
    [
      403,
      'the organization refuses the token',
      'composer/composer#12711',
      'shown',
      { ...git('Personal access tokens (classic) are forbidden.\n'), times: 1 },
      true,
    ],
    [
      403,
      'an IP allow list lacks this server',
      'xaf/omni#670',
      'shown',
      { ...git('The organization has an IP allow list enabled\n'), times: 1 },
      true,
    ],
    [403, 'disabled', 'report', 'missing', git('Access to this repository has been disabled by GitHub staff.\n')],
    [403, 'refused to everybody', DOCUMENTATION, 'unavailable', git('Something new\n')],
    [403, 'throttled', DOCUMENTATION, 'rate limited', git('Forbidden\n', { 'retry-after': '20' })],
    [404, 'absent', DOCUMENTATION, 'missing', git('Not Found\n')],
    [429, 'throttled', DOCUMENTATION, 'rate limited', git('Too many requests\n', { 'retry-after': '20' })],
    [451, 'blocked by law', 'report', 'missing', git('Repository unavailable due to DMCA takedown.\n')],
    [500, 'failure', DOCUMENTATION, 'unavailable', git('')],
    [503, 'failure', DOCUMENTATION, 'unavailable', git('', { 'retry-after': '30' })],
  ],
}

export const STATUS_ROWS: readonly StatusRow[] = Object.entries(ROWS).flatMap(([question, rows]) =>
  rows.map(([status, situation, source, reading, answer = null, isWithToken = false]) => ({
    question: question as Question,
    status,
    situation,
    source,
    reading,
    answer: answer === null ? null : { times: 99, ...answer, status },
    isWithToken,
  })),
)

/** The rows as the table of `docs/github.md` has them. */
export function statusTable(): string {
  const lines = STATUS_ROWS.map(
    ({ question, status, situation, source, reading, answer }) =>
      `| \`${question}\` | ${status} | ${situation} | ${source} | ${reading} | ${answer === null ? 'itself' : 'told to'} |`,
  )
  return ['| Question | Status | Situation | Source | Reading | Stand-in |', '|---|---|---|---|---|---|', ...lines].join('\n')
}
