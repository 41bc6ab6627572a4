import { z } from 'zod'
import type { ErrorCode } from '../errors.ts'
import { BrowseAnswer, BrowseQuery } from './browse.ts'
import { Featured } from './card.ts'
import { ChangesAnswer, ChangesQuery } from './changes.ts'
import { FilePage, FileQuery } from './file.ts'
import { FindAnswer, FindQuery } from './find.ts'
import { LegalDocument } from './legal.ts'
import { Mount } from './mount.ts'
import { OwnerPage, OwnerQuery } from './owner.ts'
import { Showcase } from './showcase.ts'
import { SkillAnswer, SkillQuery } from './skill.ts'

/** One route of `/api/v1`: who may call it, what it takes, what it answers, how it can fail. */
export interface Endpoint<
  Subject extends EndpointSubject = EndpointSubject,
  Query extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
  Body extends z.ZodType | null = z.ZodType | null,
> {
  method: EndpointMethod
  guard: EndpointGuard
  /** Below `/api/v1`; `{address}`, `{owner}` and `{kind}` are percent-encoded. */
  path: `/${string}`
  /** The kind of thing that the path names. */
  subject: Subject
  summary: string
  query: Query
  /** JSON in the request; `null`: the endpoint takes none. */
  body: Body
  answer: Answer
  /** Codes of this endpoint, besides `COMMON_ERRORS`. */
  errors: readonly ErrorCode[]
}

export type EndpointMethod = 'GET'

/** Who may call an endpoint. */
export type EndpointGuard = 'anyone'

export type EndpointSubject = 'address' | 'owner' | 'kind' | 'none'

/** An endpoint that reads, for everyone. */
function reading<Subject extends EndpointSubject, Query extends z.ZodType, Answer extends z.ZodType>(
  definition: Omit<Endpoint<Subject, Query, Answer>, 'method' | 'guard' | 'body'>,
): Endpoint<Subject, Query, Answer, null> {
  return { method: 'GET', guard: 'anyone', body: null, ...definition }
}

/** Codes that every endpoint may answer, or a request that differs from it in method, path or form. */
export const COMMON_ERRORS = [
  'request.invalid',
  'request.not_found',
  'request.method_not_allowed',
  'request.timeout',
  'request.headers_too_large',
  'service.internal',
] as const satisfies readonly ErrorCode[]

const ADDRESS_ERRORS = [
  'address.invalid_escape',
  'address.unknown_host',
  'address.incomplete',
  'address.invalid_owner',
  'address.invalid_repository',
  'address.invalid_ref',
  'address.invalid_path',
  'address.too_long',
  'mount.repo_not_found',
  'mount.ref_not_found',
  'mount.path_not_found',
  'mount.not_allowed',
  'mount.rate_limited',
  'mount.unavailable',
  'skill.unavailable',
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
    errors: [
      ...ADDRESS_ERRORS,
      'index.indexing',
      'index.failed',
      'file.not_found',
      'file.not_served',
      'file.too_large',
      'file.not_text',
    ],
  }),
  changes: reading({
    path: '/changes/{address}',
    subject: 'address',
    summary: 'What an agent reads differently than at another commit',
    query: ChangesQuery,
    answer: ChangesAnswer,
    errors: [...ADDRESS_ERRORS, 'skill.not_found'],
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
} as const

export type EndpointName = keyof typeof ENDPOINTS
export type SubjectOf<Name extends EndpointName> = (typeof ENDPOINTS)[Name]['subject']
export type QueryOf<Name extends EndpointName> = z.infer<(typeof ENDPOINTS)[Name]['query']>
export type QueryInputOf<Name extends EndpointName> = z.input<(typeof ENDPOINTS)[Name]['query']>
export type BodyOf<Name extends EndpointName> = (typeof ENDPOINTS)[Name]['body'] extends infer Body
  ? Body extends z.ZodType
    ? z.infer<Body>
    : null
  : never
export type AnswerOf<Name extends EndpointName> = z.infer<(typeof ENDPOINTS)[Name]['answer']>
