import { z } from 'zod'
import type { ErrorCode } from '../errors.ts'
import { BrowseAnswer, BrowseQuery } from './browse.ts'
import { Featured } from './card.ts'
import { ChangesAnswer, ChangesQuery } from './changes.ts'
import { FilePage, FileQuery } from './file.ts'
import { FindAnswer, FindQuery } from './find.ts'
import { FindingsAnswer, FindingsQuery } from './findings.ts'
import { HistoryAnswer, HistoryQuery } from './history.ts'
import { LegalDocument } from './legal.ts'
import { Mount } from './mount.ts'
import { OAuthDecision, OAuthRedirect, OAuthRequest, OAuthRequestQuery } from './oauth.ts'
import { OwnerPage, OwnerQuery } from './owner.ts'
import { CreatedToken, Me, MyGrants, MyRepositories, MyTokens, Nothing, TokenRequest } from './people.ts'
import { RefList } from './refs.ts'
import { Showcase } from './showcase.ts'
import { SkillAnswer, SkillQuery } from './skill.ts'

/** Codes of endpoints that take an address, and need its repository alone. */
export const REPOSITORY_ERRORS = [
  'address.invalid_escape',
  'address.unknown_host',
  'address.incomplete',
  'address.invalid_owner',
  'address.invalid_repository',
  'address.invalid_ref',
  'address.invalid_path',
  'address.too_long',
  'mount.repo_not_found',
  'mount.not_allowed',
  'mount.rate_limited',
  'mount.unavailable',
  'auth.required',
  'auth.unavailable',
] as const satisfies readonly ErrorCode[]

/** Codes of endpoints that take an address, and read its index. */
const ADDRESS_ERRORS = [
  ...REPOSITORY_ERRORS,
  'mount.ref_not_found',
  'mount.path_not_found',
  'skill.unavailable',
] as const satisfies readonly ErrorCode[]

/** Of a request for the text of a file, beside those of its address. */
const FILE_ERRORS = [
  'index.indexing',
  'index.failed',
  'file.not_found',
  'file.not_served',
  'file.too_large',
  'file.not_text',
] as const satisfies readonly ErrorCode[]

/** One route of `/api/v1`: who may call it, what it takes, what it answers, how it can fail. */
export interface Endpoint<
  Subject extends EndpointSubject = EndpointSubject,
  Query extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
  Body extends z.ZodType | null = z.ZodType | null,
> {
  method: EndpointMethod
  guard: EndpointGuard
  /** What tells who sends the request. */
  credential: EndpointCredential
  /** Below `/api/v1`; `{address}`, `{owner}`, `{kind}` and `{id}` are percent-encoded. */
  path: `/${string}`
  /** The kind of thing that the path names. */
  subject: Subject
  summary: string
  query: Query
  /** JSON in the request; `null`: the endpoint takes none. */
  body: Body
  /** Answers a body that is no JSON, or not of the schema. Default: `request.invalid`. */
  invalidBody?: ErrorCode
  /** Of an answer that is no error. 204 has no body. */
  status: 200 | 201 | 204
  answer: Answer
  /** Codes of this endpoint, besides `COMMON_ERRORS`. */
  errors: readonly ErrorCode[]
}

export type EndpointMethod = 'GET' | 'POST' | 'DELETE'

/**
 * Who may call an endpoint. `signed_in`: a person, by the session cookie. `own_pages`: the same, from a page of this deployment alone, as the
 * request changes something.
 */
export type EndpointGuard = 'anyone' | 'signed_in' | 'own_pages'

/** `none`: everyone is answered alike. `session`: the cookie. `bearer`: a token, or else the cookie. */
export type EndpointCredential = 'none' | 'session' | 'bearer'

export type EndpointSubject = 'address' | 'owner' | 'kind' | 'id' | 'none'

type Shared = 'method' | 'guard' | 'credential' | 'body' | 'status'

/** An endpoint that reads, for everyone. */
function reading<Subject extends EndpointSubject, Query extends z.ZodType, Answer extends z.ZodType>(
  definition: Omit<Endpoint<Subject, Query, Answer>, Shared | 'invalidBody'>,
): Endpoint<Subject, Query, Answer, null> & { method: 'GET' } {
  const credential = definition.subject === 'address' ? 'bearer' : 'none'
  return { method: 'GET', guard: 'anyone', credential, body: null, status: 200, ...definition }
}

/** An endpoint of the person who is signed in. */
function personal<
  const Method extends EndpointMethod,
  Subject extends EndpointSubject,
  Answer extends z.ZodType,
  Body extends z.ZodType | null = null,
  Query extends z.ZodType = typeof NO_QUERY,
>(
  method: Method,
  definition: Pick<
    Endpoint<Subject, z.ZodType, Answer, Body>,
    'path' | 'subject' | 'summary' | 'status' | 'answer' | 'errors'
  > & {
    guard?: EndpointGuard
    query?: Query
    body?: Body
    invalidBody?: ErrorCode
  },
): Endpoint<Subject, Query, Answer, Body> & { method: Method } {
  const guard = definition.guard ?? (method === 'GET' ? 'signed_in' : 'own_pages')
  const refused: Record<EndpointGuard, ErrorCode[]> = {
    anyone: [],
    signed_in: ['auth.required'],
    own_pages: ['auth.forbidden_origin', 'auth.required'],
  }
  const errors = [...refused[guard], ...definition.errors, 'auth.unavailable' as const]
  const body = (definition.body ?? null) as Body
  return { ...definition, method, guard, credential: 'session', query: (definition.query ?? NO_QUERY) as Query, body, errors }
}

const NO_QUERY = z.strictObject({})

/** Codes that every endpoint may answer, or a request that differs from it in method, path or form. */
export const COMMON_ERRORS = [
  'request.invalid',
  'request.not_found',
  'request.method_not_allowed',
  'request.timeout',
  'request.headers_too_large',
  'service.internal',
] as const satisfies readonly ErrorCode[]

/** The endpoints. Validation, types, OpenAPI, the site's client and the tests derive from this table. */
export const ENDPOINTS = {
  mounts: reading({
    path: '/mounts/{address}',
    subject: 'address',
    summary: 'Overview of a repository, ref and folder',
    query: z.strictObject({}),
    answer: Mount,
    errors: ADDRESS_ERRORS,
  }),
  browse: reading({
    path: '/browse/{address}',
    subject: 'address',
    summary: 'One folder, entry by entry',
    query: BrowseQuery,
    answer: BrowseAnswer,
    errors: ADDRESS_ERRORS,
  }),
  findings: reading({
    path: '/findings/{address}',
    subject: 'address',
    summary: 'What the author of skills and manifests should know',
    query: FindingsQuery,
    answer: FindingsAnswer,
    errors: ADDRESS_ERRORS,
  }),
  find: reading({
    path: '/find/{address}',
    subject: 'address',
    summary: 'Ranked search over skills and documents',
    query: FindQuery,
    answer: FindAnswer,
    errors: ADDRESS_ERRORS,
  }),
  skills: reading({
    path: '/skills/{address}',
    subject: 'address',
    summary: 'A skill with its rules and includes, page by page',
    query: SkillQuery,
    answer: SkillAnswer,
    errors: [...ADDRESS_ERRORS, 'skill.not_found', 'skill.ambiguous'],
  }),
  files: reading({
    path: '/files/{address}',
    subject: 'address',
    summary: 'One text file, page by page',
    query: FileQuery,
    answer: FilePage,
    errors: [...ADDRESS_ERRORS, ...FILE_ERRORS],
  }),
  changes: reading({
    path: '/changes/{address}',
    subject: 'address',
    summary: 'What an agent reads differently than at another commit',
    query: ChangesQuery,
    answer: ChangesAnswer,
    errors: [...ADDRESS_ERRORS, 'skill.not_found'],
  }),
  history: reading({
    path: '/history/{address}',
    subject: 'address',
    summary: 'Commits that changed what a skill delivers, or what a mount lists',
    query: HistoryQuery,
    answer: HistoryAnswer,
    errors: [...ADDRESS_ERRORS, 'skill.not_found'],
  }),
  refs: reading({
    path: '/refs/{address}',
    subject: 'address',
    summary: 'Branches and tags of the repository',
    query: z.strictObject({}),
    answer: RefList,
    errors: REPOSITORY_ERRORS,
  }),
  featured: reading({
    path: '/featured',
    subject: 'none',
    summary: 'The addresses that the operator selected',
    query: z.strictObject({}),
    answer: Featured,
    errors: [],
  }),
  owners: reading({
    path: '/owners/gh/{owner}',
    subject: 'owner',
    summary: 'An account of the git host, its indexed repositories first',
    query: OwnerQuery,
    answer: OwnerPage,
    errors: ['owner.invalid', 'owner.not_found', 'mount.rate_limited', 'mount.unavailable', 'skill.unavailable'],
  }),
  showcase: reading({
    path: '/showcase',
    subject: 'none',
    summary: 'Examples that the operator shows, with their media',
    query: z.strictObject({}),
    answer: Showcase,
    errors: [],
  }),
  legal: reading({
    path: '/legal/{kind}',
    subject: 'kind',
    summary: 'The terms or the privacy page of the deployment',
    query: z.strictObject({}),
    answer: LegalDocument,
    errors: ['legal.not_found'],
  }),
  me: personal('GET', {
    path: '/me',
    subject: 'none',
    guard: 'anyone',
    summary: 'Who is signed in',
    status: 200,
    answer: Me,
    errors: [],
  }),
  myRepositories: personal('GET', {
    path: '/me/repositories',
    subject: 'none',
    summary: 'The repositories that a person and the app of the host reach, by installation',
    status: 200,
    answer: MyRepositories,
    errors: ['mount.rate_limited', 'mount.unavailable'],
  }),
  myGrants: personal('GET', {
    path: '/me/grants',
    subject: 'none',
    summary: 'The apps that read on behalf of a person',
    status: 200,
    answer: MyGrants,
    errors: [],
  }),
  endGrant: personal('DELETE', {
    path: '/me/grants/{id}',
    subject: 'id',
    summary: 'End a grant with all its tokens, at once',
    status: 204,
    answer: Nothing,
    errors: ['grant.not_found'],
  }),
  myTokens: personal('GET', {
    path: '/me/tokens',
    subject: 'none',
    summary: 'The agent tokens of a person, without their secrets',
    status: 200,
    answer: MyTokens,
    errors: [],
  }),
  createToken: personal('POST', {
    path: '/me/tokens',
    subject: 'none',
    summary: 'Make an agent token that reads one private repository',
    body: TokenRequest,
    invalidBody: 'token.invalid',
    status: 201,
    answer: CreatedToken,
    errors: [
      'token.invalid',
      'token.not_a_repository',
      'token.public_repository',
      'mount.repo_not_found',
      'mount.not_allowed',
      'token.limit',
      'request.too_large',
      'request.encoded',
      'mount.rate_limited',
      'mount.unavailable',
    ],
  }),
  deleteToken: personal('DELETE', {
    path: '/me/tokens/{id}',
    subject: 'id',
    summary: 'End an agent token, at once',
    status: 204,
    answer: Nothing,
    errors: ['token.not_found'],
  }),
  oauthRequest: personal('GET', {
    path: '/oauth/request',
    subject: 'none',
    guard: 'anyone',
    summary: 'What an app asks a person to approve',
    query: OAuthRequestQuery,
    status: 200,
    answer: OAuthRequest,
    errors: ['oauth.invalid_request'],
  }),
  oauthDecision: personal('POST', {
    path: '/oauth/decision',
    subject: 'none',
    summary: 'Approve or refuse what an app asks for',
    body: OAuthDecision,
    invalidBody: 'oauth.invalid_request',
    status: 200,
    answer: OAuthRedirect,
    errors: ['oauth.invalid_request', 'request.too_large', 'request.encoded', 'mount.unavailable', 'oauth.not_visible'],
  }),
} as const

export type EndpointName = keyof typeof ENDPOINTS
/** Endpoints that read, which pages of a process ask in the same process. */
export type ReadingName = {
  [Name in EndpointName]: (typeof ENDPOINTS)[Name]['method'] extends 'GET' ? Name : never
}[EndpointName]
export type SubjectOf<Name extends EndpointName> = (typeof ENDPOINTS)[Name]['subject']
export type QueryOf<Name extends EndpointName> = z.infer<(typeof ENDPOINTS)[Name]['query']>
export type QueryInputOf<Name extends EndpointName> = z.input<(typeof ENDPOINTS)[Name]['query']>
export type BodyOf<Name extends EndpointName> = (typeof ENDPOINTS)[Name]['body'] extends infer Body
  ? Body extends z.ZodType
    ? z.infer<Body>
    : null
  : never
export type AnswerOf<Name extends EndpointName> = z.infer<(typeof ENDPOINTS)[Name]['answer']>
