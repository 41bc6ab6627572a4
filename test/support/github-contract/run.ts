import { faultOfAnswer } from '#test/support/fake-github/schema.ts'
import { DELIMITER, type GitLine, type Probe, type Subjects, type TokenKind } from './probe.ts'
import { PROBES } from './probes.ts'

export interface ProbedHost {
  /** Without a slash at its end, as the settings of the product have it. */
  url: string
  apiUrl: string
  token: string | null
}

export interface ProbeResult {
  probe: Probe
  /** `GET https://…`; `null`: there is nothing to ask it about. */
  asked: string | null
  /** What is otherwise than expected. */
  differences: string[]
}

/** The host does not answer at all, whatever it is asked. */
export class HostNotReached extends Error {
  constructor(cause: unknown) {
    super(`no answer: ${reasonOf(cause)}`, { cause })
    this.name = 'HostNotReached'
  }
}

const ANSWER_MS = 15_000
/** Of an answer, what is looked at. */
const ANSWER_BYTES = 16 * 1024 * 1024

/**
 * Asks the host one question after another, each once.
 *
 * @throws HostNotReached when there is no answer to the first one: then nothing that is told would be of the host
 */
export async function* runProbes(host: ProbedHost, subjects: Subjects): AsyncGenerator<ProbeResult> {
  const known = wordsOf(subjects)
  let isReached = false
  for (const probe of PROBES) {
    if (!isOfToken(probe, host.token, subjects.sees)) {
      yield { probe, asked: null, differences: [] }
      continue
    }
    const missing = placeholdersOf(probe).find(name => !known[name])
    if (missing !== undefined) {
      const isGiven = missing in subjects
      yield { probe, asked: null, differences: isGiven ? [] : [`cannot be asked: no ${missing} was learnt before`] }
      continue
    }
    const { url, init } = requestOf(probe, host, known)
    const asked = `${init.method} ${url}`
    const answer = await ask(url, init)
    if (answer instanceof Error) {
      if (!isReached) throw new HostNotReached(answer)
      yield { probe, asked, differences: [`no answer: ${reasonOf(answer)}`] }
    } else {
      isReached = true
      Object.assign(known, learnFrom(probe, answer))
      yield { probe, asked, differences: differencesOf(probe, answer, known) }
    }
  }
}

/** Whether the probe is for who asks. */
function isOfToken({ as, ofToken, sees }: Probe, token: string | null, seen: Subjects['sees']): boolean {
  if (as !== 'token') return true
  return token !== null && (ofToken === undefined || ofToken === kindOf(token)) && (sees === undefined || sees === seen)
}

function kindOf(token: string): TokenKind {
  if (token.startsWith('github_pat_')) return 'fine-grained'
  return /^gh[su]_/.test(token) ? 'app' : 'classic'
}

/** What would be asked, with what is learnt on the way as it stands. */
export function listProbes(host: ProbedHost, subjects: Subjects): ProbeResult[] {
  const known = wordsOf(subjects)
  return PROBES.map(probe => {
    const isSkipped =
      !isOfToken(probe, host.token, subjects.sees) || placeholdersOf(probe).some(name => name in subjects && !known[name])
    const { url, init } = requestOf(probe, host, known)
    return { probe, asked: isSkipped ? null : `${init.method} ${url}`, differences: [] }
  })
}

type Words = Record<string, string>

interface Answer {
  status: number
  headers: Headers
  text: string
}

function wordsOf({ owner, repository, ...rest }: Subjects): Words {
  return { owner, repository, ...rest, OWNER: swapCase(owner), REPOSITORY: swapCase(repository) }
}

function swapCase(text: string): string {
  return text.replace(/[a-zA-Z]/g, letter => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()))
}

const PLACEHOLDER = /\{(=?)([a-zA-Z]+)\}/g

/** In what is asked. What is expected may name what this very answer tells. */
function placeholdersOf({ path, headers = {}, gitLines = [] }: Probe): string[] {
  const texts = [path, ...Object.values(headers), ...gitLines.filter(line => line !== DELIMITER)]
  return texts.flatMap(text => [...text.matchAll(PLACEHOLDER)].map(match => match[2] ?? ''))
}

function fill(text: string, known: Words, encode: (word: string) => string): string {
  return text.replace(PLACEHOLDER, (placeholder, asItIs: string, name: string) => {
    const word = known[name]
    return word === undefined ? placeholder : asItIs ? word : encode(word)
  })
}

const asItIs = (word: string) => word

function requestOf({ host: at, method = 'GET', path, headers = {}, as, gitLines }: Probe, host: ProbedHost, known: Words) {
  const filled = fill(path, known, encodeURIComponent)
  const url = URL.canParse(filled) ? filled : `${at === 'api' ? host.apiUrl : host.url}${filled}`
  const authorization = as === 'nobody' ? null : as === 'nonsense' ? 'Bearer ghp_nonsense' : authorizationOf(at, host.token)
  const filledHeaders = Object.entries(headers).map(([name, value]) => [name, fill(value, known, asItIs)] as const)
  const init = {
    method,
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_MS),
    headers: {
      'user-agent': at === 'api' ? 'mountglass-contract' : 'git/mountglass',
      ...(at === 'api' ? { accept: 'application/vnd.github+json', 'x-github-api-version': '2026-03-10' } : {}),
      ...(authorization === null ? {} : { authorization }),
      ...(gitLines ? { 'git-protocol': 'version=2', 'content-type': 'application/x-git-upload-pack-request' } : {}),
      ...Object.fromEntries(filledHeaders),
    },
    ...(gitLines ? { body: gitRequest(gitLines, known) } : {}),
  } satisfies RequestInit
  return { url, init }
}

/** The API takes a token, git a password. */
function authorizationOf(host: Probe['host'], token: string | null): string | null {
  if (token === null) return null
  return host === 'api' ? `Bearer ${token}` : `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
}

function gitRequest(lines: readonly GitLine[], known: Words): string {
  const packets = lines.map(line => {
    if (line === DELIMITER) return '0001'
    const text = `${fill(line, known, asItIs)}\n`
    return `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
  })
  return `${packets.join('')}0000`
}

/** The answer, or why there is none. */
async function ask(url: string, init: RequestInit): Promise<Answer | Error> {
  try {
    const answer = await fetch(url, init)
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of answer.body ?? []) {
      chunks.push(Buffer.from(chunk))
      bytes += chunk.length
      if (bytes > ANSWER_BYTES) return new Error(`the answer is longer than ${ANSWER_BYTES} bytes`)
    }
    return { status: answer.status, headers: answer.headers, text: Buffer.concat(chunks).toString('latin1') }
  } catch (error) {
    return error as Error
  }
}

/** `fetch` says what failed in the cause of its error. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  const reason = cause instanceof Error ? cause : null
  return reason ? reason.message || (reason as NodeJS.ErrnoException).code || reason.name : message
}

function learnFrom({ learn = {} }: Probe, { headers, text }: Answer): Words {
  const body = parseJson(text)
  const found = Object.entries(learn).map(([name, place]) => {
    if (place === 'text') return [name, text] as const
    const [kind = '', key = ''] = splitOnce(place, '.')
    return [name, String((kind === 'header' ? headers.get(key) : fieldOf(body, key)) ?? '')] as const
  })
  return Object.fromEntries(found)
}

function differencesOf(probe: Probe, { status, headers, text }: Answer, known: Words): string[] {
  const { operation, fields = {}, answerHeaders = {} } = probe
  // With another status everything else is of another answer.
  if (status !== probe.status) return [`status ${status}, not ${probe.status}`]
  const found: string[] = []
  for (const [name, expected] of Object.entries(answerHeaders)) {
    const given = headers.get(name)
    if (expected === null ? given !== null : given === null || !matches(given, expected, known))
      found.push(`header ${name}: ${quoted(given)}, not ${expected ?? 'absent'}`)
  }
  if (probe.text !== undefined && !matches(text, probe.text, known)) found.push(`body: ${quoted(text)}, not ${probe.text}`)
  if (operation === undefined && Object.keys(fields).length === 0) return found
  const body = parseJson(text)
  if (body === undefined) return [...found, `body: ${quoted(text)}, not JSON`]
  for (const [path, types] of Object.entries(fields)) {
    const type = typeOf(fieldOf(body, path))
    if (!types.split('|').includes(type)) found.push(`field ${path}: ${type}, not ${types}`)
  }
  const fault = operation === undefined ? null : faultOfAnswer(operation, status, body)
  return fault === null ? found : [...found, `not as described: ${fault}`]
}

function matches(text: string, pattern: string, known: Words): boolean {
  return new RegExp(fill(pattern, known, escapePattern)).test(text)
}

function escapePattern(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'latin1').toString('utf8'))
  } catch {
    return undefined
  }
}

/** `owner.login`, `0.name` */
function fieldOf(body: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => {
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
  }, body)
}

function typeOf(value: unknown): string {
  return value === undefined ? 'absent' : value === null ? 'null' : typeof value
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return [text.slice(0, at), text.slice(at + separator.length)]
}

const SHOWN_CHARACTERS = 120

function quoted(text: string | null): string {
  if (text === null) return 'absent'
  const shown = JSON.stringify(text.slice(0, SHOWN_CHARACTERS))
  return text.length > SHOWN_CHARACTERS ? `${shown}…` : shown
}
