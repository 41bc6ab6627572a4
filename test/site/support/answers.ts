import { hash } from 'node:crypto'
import { errorBody } from '#api/http/error-handler.ts'
import { type AnswerOf, ENDPOINTS, type EndpointName } from '#core/contract/endpoints.ts'
import type { FindingsPage, ListedFinding } from '#core/contract/findings.ts'
import { ErrorAnswer } from '#core/contract/shared.ts'
import { ERROR_STATUS, type ErrorCode, type ErrorDetails, ServiceError } from '#core/errors.ts'
import type { ApiTransport, Credentials } from '#site/lib/api-client.ts'
import { endpointOf } from '../../support/personal-endpoints.ts'

/** What the API is asked: endpoint, raw address and query. */
export interface Question {
  endpoint: EndpointName
  address: string
  query: URLSearchParams
  /** Who asks. */
  credentials: Credentials
}

/** An answer of the contract, or the error it names. */
export type Answers = { [Name in EndpointName]?: (question: Question) => AnswerOf<Name> | ServiceError }

/**
 * An API that gives exactly these answers: the states that a repository cannot be brought into at will. Every answer is checked by the
 * contract first, so that no page is tried with something the API could not say.
 */
export function answering(answers: Answers): ApiTransport {
  answers = { findings: () => findingsPage([]), ...answers }
  return async (url, credentials) => {
    const question = { ...readQuestion(url), credentials }
    const answer = answers[question.endpoint]?.(question) ?? new ServiceError('mount.repo_not_found')
    if (!(answer instanceof ServiceError))
      return { status: 200, body: JSON.stringify(ENDPOINTS[question.endpoint].answer.parse(answer)), answer }
    const refused = errorBody(answer)
    return { status: answer.status, body: JSON.stringify(ErrorAnswer.parse(refused)), answer: refused }
  }
}

/** A repository with these findings. */
export function findingsPage(items: readonly ListedFinding[], page: Partial<FindingsPage> = {}): FindingsPage {
  const counts = { look: 0, breaks: 0, style: 0 }
  for (const { level } of items) counts[level]++
  return { status: 'ready', commit: COMMIT, counts, items: [...items], diagnostics: [], nextCursor: null, ...page }
}

export function refusal(code: ErrorCode, details: ErrorDetails = {}): ServiceError {
  return new ServiceError(code, details)
}

export const ERROR_CODES = Object.keys(ERROR_STATUS) as ErrorCode[]

function readQuestion(url: string): Omit<Question, 'credentials'> {
  const endpoint = endpointOf('GET', url)
  if (endpoint === null) throw new Error(`not a URL of the contract: ${url}`)
  const [, address = '', query] = /^\/api\/v1\/[a-z]+(?:\/([^?]*))?\??(.*)$/s.exec(url) ?? []
  return { endpoint, address, query: new URLSearchParams(query) }
}

/** Words that would do harm in a page that does not escape them. */
export const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(2)>'\u202egnp.exe`

export const COMMIT = 'a1b2c3d4e5f60718293a4b5c6d7e8f9012345678'

/** A commit for a repository whose one text this is: another text is another commit. */
export function commitOf(content: string): string {
  return hash('sha1', content)
}

const OPEN = { kind: 'open', name: 'Apache-2.0', source: 'LICENSE' } as const

type Mount = AnswerOf<'mounts'>
type Overview = Extract<Mount['index'], { status: 'ready' }>

export function readyMount(overview: Partial<Overview> = {}, mount: Partial<Mount> = {}): Mount {
  return {
    address: '/local/acme/tools',
    repository: {
      host: 'local',
      owner: 'acme',
      name: 'tools',
      defaultBranch: 'main',
      description: null,
      avatar: null,
      visibility: 'public',
    },
    ref: null,
    pinned: false,
    commit: COMMIT,
    path: '',
    verified: false,
    image: null,
    index: {
      status: 'ready',
      indexedAt: '2026-03-04T05:06:07Z',
      manifest: { path: 'SKILLSET.md', name: 'Tools', description: 'What we work with.', language: 'en', translations: {} },
      license: OPEN,
      counts: { skills: 1, documents: 1 },
      readFirst: { files: [], nested: 0 },
      skills: [
        {
          path: 'skills/pdf/SKILL.md',
          directory: 'skills/pdf',
          name: 'pdf',
          description: 'Reads PDF files.',
          warnings: [],
          translations: {},
          license: OPEN,
        },
      ],
      documents: [{ path: 'docs/guide.md', title: 'Guide', summary: 'How to begin.' }],
      diagnostics: [],
      truncated: false,
      ...overview,
    },
    ...mount,
  }
}

type Card = AnswerOf<'featured'>['items'][number]

export function readyCard(card: Partial<Card> = {}, index: Partial<Extract<Card['index'], { status: 'ready' }>> = {}): Card {
  return {
    address: '/gh/acme/tools',
    repository: { ...readyMount().repository, host: 'gh' },
    verified: false,
    image: null,
    index: { status: 'ready', license: OPEN, counts: { skills: 7, documents: 2 }, skillNames: ['pdf', 'docx'], ...index },
    ...card,
  }
}

type OwnerPage = AnswerOf<'owners'>

export function ownerPage(page: Partial<OwnerPage> = {}, owner: Partial<OwnerPage['owner']> = {}): OwnerPage {
  return {
    owner: {
      host: 'gh',
      login: 'acme',
      name: 'Acme Corporation',
      bio: 'We make everything.',
      kind: 'organization',
      avatar: 'https://avatars.example/u/1',
      url: 'https://github.com/acme',
      publicRepositories: 3,
      ...owner,
    },
    indexed: [readyCard()],
    repositories: [listedRepository()],
    nextPage: null,
    ...page,
  }
}

export function listedRepository(repository: Partial<OwnerPage['repositories'][number]> = {}): OwnerPage['repositories'][number] {
  return {
    address: '/gh/acme/site',
    name: 'site',
    description: 'Our site.',
    fork: false,
    archived: false,
    stars: 0,
    pushedAt: '2026-03-04T05:06:07Z',
    ...repository,
  }
}

type SkillPage = Extract<AnswerOf<'skills'>, { status: 'ready' }>

export function whole(content: string) {
  const length = [...content].length
  const totalBytes = Buffer.byteLength(content)
  return { index: 0, offset: 0, length, totalLength: length, totalBytes, totalTokens: Math.ceil(totalBytes / 4), last: true }
}

export function skillPage(skill: Partial<SkillPage['skill']> = {}, page: Partial<Omit<SkillPage, 'skill'>> = {}): SkillPage {
  const body = skill.body ?? '# When to use\n\nWhen a PDF is at hand.\n'
  return {
    status: 'ready',
    commit: COMMIT,
    skill: {
      path: 'skills/pdf/SKILL.md',
      directory: 'skills/pdf',
      name: 'pdf',
      description: 'Reads PDF files.',
      frontMatter: {},
      warnings: [],
      translations: {},
      serving: {
        license: OPEN,
        full: true,
        sourceUrl: `http://127.0.0.1/git/local/acme/tools/raw/${COMMIT}/skills/pdf/SKILL.md`,
      },
      ruleChain: [],
      body,
      bodyFragment: whole(body),
      files: [],
      includes: [],
      references: [],
      ...skill,
    },
    complete: true,
    nextCursor: null,
    diagnostics: [],
    ...page,
  }
}

export function browsePage(page: Partial<Extract<AnswerOf<'browse'>, { status: 'ready' }>> = {}): AnswerOf<'browse'> {
  return { status: 'ready', commit: COMMIT, path: '', entries: [], diagnostics: [], nextCursor: null, ...page }
}

export function findPage(page: Partial<Extract<AnswerOf<'find'>, { status: 'ready' }>> = {}): AnswerOf<'find'> {
  return { status: 'ready', commit: COMMIT, query: 'pdf', items: [], diagnostics: [], nextCursor: null, ...page }
}

export function filePage(page: Partial<AnswerOf<'files'>> = {}): AnswerOf<'files'> {
  const content = page.content ?? 'text\n'
  const length = [...content].length
  return {
    kind: 'file',
    path: 'docs/guide.md',
    content,
    offset: 0,
    nextOffset: null,
    totalLength: length,
    commit: COMMIT,
    size: length,
    sha256: 'f'.repeat(64),
    ...page,
  }
}
