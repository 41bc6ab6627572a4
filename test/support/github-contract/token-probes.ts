import type { Probe } from './probe.ts'

const PRIVATE_REPOSITORIES = '/user/repos?visibility=private&per_page=1'
const LIMIT = { 'resources.core.limit': 'number' }

/** How the product learns what each kind of token sees; a part of `PROBES`. */
export const TOKEN_PROBES: readonly Probe[] = [
  {
    name: 'the scopes of a classic token',
    host: 'api',
    path: '/rate_limit',
    as: 'token',
    ofToken: 'classic',
    status: 200,
    answerHeaders: { 'x-oauth-scopes': '^[a-z0-9_:, ]*$' },
    fields: LIMIT,
  },
  {
    // No header says what it sees, so the product lists its private repositories.
    name: 'a fine-grained token without scopes',
    host: 'api',
    path: '/rate_limit',
    as: 'token',
    ofToken: 'fine-grained',
    status: 200,
    answerHeaders: { 'x-oauth-scopes': null },
    fields: LIMIT,
  },
  {
    name: 'a fine-grained token that sees public repositories only',
    host: 'api',
    path: PRIVATE_REPOSITORIES,
    as: 'token',
    ofToken: 'fine-grained',
    sees: 'public',
    status: 200,
    answerHeaders: { link: null },
    text: '^\\[\\s*\\]$',
  },
  {
    name: 'a fine-grained token that sees private repositories',
    host: 'api',
    path: PRIVATE_REPOSITORIES,
    as: 'token',
    ofToken: 'fine-grained',
    sees: 'private',
    status: 200,
    text: '^\\[\\s*\\{',
  },
  {
    name: 'a token of an App',
    host: 'api',
    path: '/rate_limit',
    as: 'token',
    ofToken: 'app',
    status: 200,
    fields: LIMIT,
  },
]
