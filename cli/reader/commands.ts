import { formatAddress } from '#core/address.ts'
import type { BrowseEntry } from '#core/contract/browse.ts'
import type { AnswerOf } from '#core/contract/endpoints.ts'
import type { FilePage } from '#core/contract/file.ts'
import type { ListedFinding } from '#core/contract/findings.ts'
import type { Skill } from '#core/contract/skill.ts'
import { ERROR_STATUS, ServiceError } from '#core/errors.ts'
import { escapeHidden, printable } from '#core/hidden-text.ts'
import { BROWSE_LIMIT, FILE_LIMIT_CHARACTERS, FINDINGS_LIMIT } from '#core/limits.ts'
import { baseNameOf, parentOf, parseRepoPath, type RepoPath, SKILL_FILE } from '#core/repo-path.ts'
import { compareBytes } from '#core/text.ts'
import { messageIn, SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { type AskedEndpoint, askIndexed, type IndexedMount, UnansweredError } from '../answers.ts'
import { createProgressLine } from '../progress-line.ts'
import { say } from '../say.ts'
import { type NamedService, namedService } from '../service.ts'
import { columnsOfOutput, paint } from '../terminal.ts'
import { findLines, type OverviewLayout, overviewLines, SHOWN, type TextPart, textLines } from './layout.ts'
import { findTarget, folderOfFile, openSource, type Source } from './source.ts'

export interface ReaderOptions {
  /** Base URL of a deployment to ask. Default: `MOUNTGLASS_SERVICE`, else this process reads. */
  service?: string
  /** Print the answer of the interface. */
  json?: boolean
  /** Read a folder as a private repository. */
  private?: boolean
}

/** The words are wrong: an option, the address, a path; or the folder does not exist. */
const EXIT_USAGE = 2
/** The address is right, and nothing could be read. */
const EXIT_UNREAD = 1

/** What a command prints. */
interface Answered {
  stdout: string
  /** Lines of stderr. */
  notes?: readonly string[]
}

/** The words of a command are wrong. */
class UsageError extends SentenceError {
  /** What may be named instead, a line each. */
  readonly choices: readonly string[]

  constructor(said: string, choices: readonly string[] = []) {
    super(said)
    this.choices = choices
  }
}

/** `mountglass <address or folder>`: prints what is there. */
export async function showOverview(
  words: string,
  options: ReaderOptions & { all?: boolean },
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return await answering(words, options, env, async (reading: Reading) => {
    const mount = await reading.askMount()
    if (options.json) return { stdout: jsonOf(asRead(mount, reading.source)) }
    const all = options.all === true
    const listed = all ? await withAllSkills(reading, mount) : mount
    const [folders, findings] = await Promise.all([foldersOfMore(reading, listed), readFindings(reading, all)])
    const lines = overviewLines(listed, { ...layoutOf(reading), all, file: reading.source.file, folders, findings })
    return { stdout: linesOf(lines) }
  })
}

/** The mount with every skill that its folders list; those that the overview lacks are known without their tokens. */
async function withAllSkills(reading: Reading, mount: IndexedMount): Promise<IndexedMount> {
  const { skills, counts } = mount.index
  if (skills.length === counts.skills) return mount
  const known = new Set(skills.map(({ path }) => path))
  const listed = (await readFolders(reading, mount.path)).flatMap(entry => {
    const { skill, license } = entry
    if (entry.kind !== 'file' || !skill || !license || known.has(skill.path)) return []
    const directory = parentOf(skill.path as RepoPath)
    return [{ ...skill, directory, license, warnings: [], ...(entry.describedOnly && { describedOnly: entry.describedOnly }) }]
  })
  const all = [...skills, ...listed].sort((left, right) => compareBytes(left.path, right.path))
  return { ...mount, index: { ...mount.index, skills: all } }
}

/** Every entry below a folder, where there are skills. */
async function readFolders(reading: Reading, folder: string): Promise<BrowseEntry[]> {
  const entries: BrowseEntry[] = []
  let cursor: string | null = null
  do {
    const query: Record<string, string> = { path: folder, limit: String(BROWSE_LIMIT.max), ...(cursor !== null && { cursor }) }
    const page: AnswerOf<'browse'> = await reading.get('browse', query)
    if (page.status !== 'ready') return entries
    entries.push(...page.entries)
    cursor = page.nextCursor
  } while (cursor !== null)
  const below = entries.filter(entry => entry.kind === 'directory' && entry.counts.skills > 0)
  for (const { path } of below) entries.push(...(await readFolders(reading, path)))
  return entries
}

/** The findings of the folder; `null` of a deployment that does not list them. */
async function readFindings(reading: Reading, all: boolean): Promise<OverviewLayout['findings']> {
  const items: ListedFinding[] = []
  let cursor: string | null = null
  for (;;) {
    const query: Record<string, string> = {
      limit: String(all ? FINDINGS_LIMIT.max : SHOWN.finding),
      ...(cursor !== null && { cursor }),
    }
    const page: AnswerOf<'findings'> | null = await reading.get('findings', query).catch(unlessUnknown)
    if (page?.status !== 'ready') return null
    items.push(...page.items)
    cursor = page.nextCursor
    if (!all || cursor === null) return { counts: page.counts, items }
  }
}

/** An older deployment lacks the endpoint. */
function unlessUnknown(error: unknown): null {
  if (error instanceof UnansweredError && error.code === 'request.not_found') return null
  throw error
}

/** The folders to look into, where the overview does not list all skills. */
async function foldersOfMore(reading: Reading, { index: { skills, counts } }: IndexedMount) {
  if (skills.length === counts.skills) return []
  const answer = await reading.get('browse', { limit: String(BROWSE_LIMIT.max) })
  if (answer.status !== 'ready') return []
  return answer.entries.flatMap(entry =>
    entry.kind === 'directory' && entry.counts.skills > 0 ? [{ path: entry.path, skills: entry.counts.skills }] : [],
  )
}

export interface ReadOptions extends ReaderOptions {
  /** One page of the text, from 1 on. Default: all. */
  page?: number
  /** Print what an agent receives, and nothing else. */
  exact?: boolean
}

/** `mountglass read <address or folder> [<path>]`: prints the text of a skill or a file as an agent receives it. */
export async function readText(
  words: string,
  path: string | undefined,
  options: ReadOptions,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return await answering(words, options, env, async reading => {
    const mount = await reading.askMount()
    const asked = path === undefined ? (reading.source.file ?? onlySkill(mount, words)) : requirePath(path)
    const read = await readPath(reading, mount, asked, options)
    if (options.json) return { stdout: jsonOf(asRead(read.answer, reading.source)) }
    if (read.parts === null) throw notDelivered(read.answer as AnswerOf<'skills'>, reading.source)
    const stdout = textLines(read.parts, {
      exact: options.exact === true,
      isTerminal: process.stdout.isTTY,
      paint,
      ...(options.page !== undefined && { page: options.page, pages: read.pages }),
    })
    return { stdout, notes: read.isComplete ? [] : [t('reader.incomplete')] }
  })
}

/** `mountglass find <address or folder> <query>`: prints the skills and documents that have the words, best first. */
export async function findWords(words: string, query: string, options: ReaderOptions, env: NodeJS.ProcessEnv): Promise<number> {
  return await answering(words, options, env, async reading => {
    await reading.askMount()
    const found = await reading.get('find', { query })
    if (options.json) return { stdout: jsonOf(asRead(found, reading.source)) }
    if (found.status !== 'ready') throw new Error('a mount was ready, and its search is not')
    return { stdout: linesOf(findLines(found, layoutOf(reading))) }
  })
}

/** What a command reads, and how it asks. */
interface Reading {
  words: string
  service: NamedService | null
  source: Source
  askMount(): Promise<IndexedMount>
  get<Name extends Exclude<AskedEndpoint, 'mounts'>>(name: Name, query: object): Promise<AnswerOf<Name>>
}

const PATIENCE_MS = 600_000

/** Runs a command to its exit code. Ctrl-C ends it with 130, and prints nothing. */
async function answering(
  words: string,
  options: ReaderOptions,
  env: NodeJS.ProcessEnv,
  answer: (reading: Reading) => Promise<Answered>,
): Promise<number> {
  const stop = new AbortController()
  const closing: (() => Promise<void>)[] = []
  const closeAll = async () => {
    for (const close of closing.splice(0).reverse()) await close().catch(() => {})
  }
  const unwatch = onInterrupt(async code => {
    stop.abort(new Error('interrupted'))
    progress.end()
    await Promise.race([closeAll().then(() => ended.promise), new Promise(resolve => setTimeout(resolve, CLOSING_MS))])
    process.exit(code)
  })
  const ended = Promise.withResolvers<void>()
  const progress = createProgressLine({ first: 'open', env })
  try {
    const service = namedService(options.service, env)
    const source = await openSource(await findTarget(words), {
      service,
      private: options.private === true,
      env,
      signal: stop.signal,
      say(line) {
        progress.end()
        say(printable(line))
      },
      onProgress: progress.report,
      onOpened: close => closing.push(close),
    })
    const address = formatAddress(folderOfFile(source.address, source.file))
    const onIndexing = ({ progress: counted }: { progress?: { done: number; total: number } }) =>
      counted && progress.report({ stage: 'content', ...counted })
    const { stdout, notes = [] } = await answer({
      words,
      service,
      source,
      askMount: () => askIndexed(source.answers, address, { timeoutMs: PATIENCE_MS, onWaiting() {}, onIndexing }),
      get: (name, query) => source.answers.get(name, formatAddress(source.address), query as never),
    }).catch(error => {
      throw withCause(error, source)
    })
    progress.end()
    stop.signal.throwIfAborted()
    process.stdout.write(stdout)
    for (const note of notes) say(note)
    await source.keep(stop.signal)
    return 0
  } catch (error) {
    progress.end()
    // What an interruption broke off is no failure: its handler ends the process.
    return stop.signal.aborted ? EXIT_UNREAD : fail(error)
  } finally {
    await closeAll()
    ended.resolve()
    if (!stop.signal.aborted) unwatch()
  }
}

/** How long an interrupted command waits for what it opened: for git to end, and folders to be removed. */
const CLOSING_MS = 1_000

/** @returns ends the watch */
function onInterrupt(end: (exitCode: number) => Promise<void>): () => void {
  const ends = { SIGINT: () => void end(130), SIGTERM: () => void end(143) }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, ends[signal])
  return () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, ends[signal])
  }
}

/** Says what this process knows of an error beside its code. */
function withCause(error: unknown, { folder, address, failure, hasSourceUrls, proxy }: Source): unknown {
  if (!(error instanceof UnansweredError)) return error
  const cause = failure()
  if (error.code.startsWith('index.') && cause !== null) return new UnansweredError(error.code, messageIn(cause), { cause })
  if (error.code === 'mount.path_not_found' && folder !== null)
    return new UnansweredError('folder.empty', t('problem.folderEmpty', { folder: folder.path }))
  if (error.code === 'file.not_served' && folder !== null)
    return new UnansweredError(error.code, t('problem.folderNotServed'), { cause: error })
  if (error.code.startsWith('file.')) return withoutSource(error, hasSourceUrls)
  if (error.code === 'mount.unavailable' && proxy !== null)
    return new UnansweredError(error.code, t('problem.hostBehindProxy', { problem: error, proxy }))
  const isOwnGitHub = address.host === 'gh' && hasSourceUrls && error.code === 'mount.repo_not_found'
  if (!isOwnGitHub) return error
  const { owner, repository } = address
  return new UnansweredError(error.code, t('problem.noPublicRepository', { owner, repository }))
}

/** A refusal of a file, with the URL that its message names; without that part where the original is the file of the folder. */
function withoutSource(error: UnansweredError, hasSourceUrls: boolean): UnansweredError {
  const url = hasSourceUrls && error.cause instanceof ServiceError ? error.cause.details.sourceUrl : undefined
  const message = messageIn(error)
  const said =
    url === undefined
      ? message.replace(/[;,][^;,]* (?:at sourceUrl|the original either)$/, '')
      : message.replace(/sourceUrl$/, () => url)
  return said === message ? error : new UnansweredError(error.code, said, { cause: error })
}

function fail(error: unknown): number {
  if (!(error instanceof SentenceError || error instanceof ServiceError)) throw error
  const code = error instanceof UnansweredError || error instanceof ServiceError ? `${error.code}: ` : ''
  say(printable(`${code}${messageIn(error)}`))
  if (error instanceof UsageError) process.stderr.write(linesOf(error.choices.map(choice => `  ${printable(choice)}`)))
  return exitCodeOf(error)
}

const WRONG_WORDS = new Set<string>([
  ...Object.keys(ERROR_STATUS).filter(code => code.startsWith('address.')),
  'mount.repo_not_found',
  'mount.ref_not_found',
  'mount.path_not_found',
  'skill.not_found',
  'skill.ambiguous',
  'file.not_found',
  'request.invalid',
])

export function exitCodeOf(error: SentenceError | ServiceError): number {
  if (!(error instanceof UnansweredError || error instanceof ServiceError)) return EXIT_USAGE
  return WRONG_WORDS.has(error.code) ? EXIT_USAGE : EXIT_UNREAD
}

function requirePath(path: string): RepoPath {
  const parsed = parseRepoPath(path.replace(/^\.?\//, '').replace(/\/$/, ''))
  if (parsed === null || parsed === '') throw new UsageError(t('problem.noPath', { path }))
  return parsed
}

const NAMED_SKILLS = 20

/** The skill of the folder, or the only one. @throws UsageError that names them */
function onlySkill({ path, index: { skills, counts } }: IndexedMount, words: string): RepoPath {
  const own = skills.find(({ directory }) => directory === path)
  const only = own ?? (counts.skills === 1 ? skills[0] : undefined)
  if (only) return only.path as RepoPath
  if (skills.length === 0) throw new UsageError(t('problem.noSkillToRead', { words }))
  const named = skills.slice(0, NAMED_SKILLS).map(skill => skill.directory || skill.path)
  const rest = counts.skills - named.length
  throw new UsageError(t('problem.manySkills', { words }), [...named, ...(rest > 0 ? [t('reader.more', { n: rest })] : [])])
}

interface Read {
  /** The answer of the page, or of the first one. */
  answer: AnswerOf<'skills'> | FilePage
  /** `null`: no license permits its text. */
  parts: TextPart[] | null
  pages: number
  isComplete: boolean
}

/** The folder of a skill stands for its `SKILL.md`. */
async function readPath(reading: Reading, mount: IndexedMount, path: RepoPath, options: ReadOptions): Promise<Read> {
  if (isSkill(path)) return await readSkill(reading, mount, path, options)
  try {
    return await readFile(reading, mount, path, options)
  } catch (error) {
    if (!(error instanceof UnansweredError && error.code === 'file.not_found')) throw error
    return await readSkill(reading, mount, `${path}/${SKILL_FILE}` as RepoPath, options).catch(other => {
      if (!(other instanceof UnansweredError && other.code === 'skill.not_found')) throw other
      return readNamed(reading, mount, path, options, error)
    })
  }
}

/**
 * Reads the skill of this name, or of a folder of this name.
 *
 * @param missing thrown where no skill has the name
 * @throws UsageError where several skills have the name; UnansweredError that names the path, where the mount lists its first skills only
 */
async function readNamed(
  reading: Reading,
  mount: IndexedMount,
  name: RepoPath,
  options: ReadOptions,
  missing: UnansweredError,
): Promise<Read> {
  const { skills, counts } = mount.index
  // Whether a further skill has the name, too, only the service knows.
  if (skills.length < counts.skills) return await readSkill(reading, mount, name, options).catch(refuseChoice(name))
  const named = skills.filter(skill => skill.name === name || baseNameOf(skill.directory as RepoPath) === name)
  const [only, ...others] = named.map(skill => skill.path as RepoPath)
  if (only === undefined) throw missing
  if (others.length > 0) throw severalSkills(name, [only, ...others])
  return await readSkill(reading, mount, only, options)
}

function refuseChoice(name: string): (error: unknown) => never {
  return error => {
    const directories = error instanceof UnansweredError ? error.directories : []
    throw directories.length === 0 ? error : severalSkills(name, directories)
  }
}

function severalSkills(name: string, choices: readonly string[]): UsageError {
  return new UsageError(t('problem.manySkills', { words: name }), choices.slice(0, NAMED_SKILLS))
}

function isSkill(path: string): boolean {
  return path === SKILL_FILE || path.endsWith(`/${SKILL_FILE}`)
}

type SkillAnswer = Extract<AnswerOf<'skills'>, { status: 'ready' }>

async function readSkill(reading: Reading, mount: IndexedMount, path: RepoPath, { page, json }: ReadOptions): Promise<Read> {
  const ask = async (cursor?: string): Promise<SkillAnswer> => {
    const answer = await reading.get('skills', { path, ...(cursor !== undefined && { cursor }) })
    if (answer.status !== 'ready') throw new Error('a mount was ready, and its skill is not')
    requireSame(mount, answer.commit)
    return answer
  }
  const first = await ask()
  const pages = first.skill.budget?.pages ?? 1
  requirePage(page, pages)
  const wanted = page ?? (json ? 1 : pages)
  const answers = [first]
  for (let last = first; answers.length < wanted && last.nextCursor; answers.push(last)) last = await ask(last.nextCursor)
  const shown = page === undefined ? answers : answers.slice(-1)
  const parts = first.skill.serving.full ? shown.flatMap(({ skill }) => partsOf(skill)) : null
  const last = answers.at(-1) ?? first
  return { answer: last, parts, pages, isComplete: last.complete || Boolean(last.nextCursor) }
}

/** The texts on a page of a skill, in the order in which an agent reads them. */
function partsOf({ path, ruleChain = [], body, bodyFragment, includes = [] }: Skill): TextPart[] {
  return [
    ...ruleChain.map(({ path, content, fragment }) => ({
      kind: 'rules' as const,
      path,
      content,
      isStart: fragment.offset === 0,
    })),
    ...(bodyFragment === null ? [] : [{ kind: 'skill' as const, path, content: body, isStart: bodyFragment.offset === 0 }]),
    ...includes.map(({ path, content, fragment }) => ({
      kind: 'include' as const,
      path,
      content,
      isStart: fragment.offset === 0,
    })),
  ]
}

async function readFile(reading: Reading, mount: IndexedMount, path: RepoPath, { page, json }: ReadOptions): Promise<Read> {
  const limit = FILE_LIMIT_CHARACTERS.default
  const ask = async (offset: number) => {
    const answer = await reading.get('files', { path, offset: String(offset) })
    requireSame(mount, answer.commit)
    return answer
  }
  const first = await ask(0)
  const pages = Math.max(1, Math.ceil(first.totalLength / limit))
  requirePage(page, pages)
  const answers = [page === undefined || page === 1 ? first : await ask((page - 1) * limit)]
  for (let next = first.nextOffset; page === undefined && !json && next !== null; ) {
    const answer = await ask(next)
    answers.push(answer)
    next = answer.nextOffset
  }
  const parts = answers.map(({ content, offset }) => ({ kind: 'file' as const, path, content, isStart: offset === 0 }))
  return { answer: answers[0] as FilePage, parts, pages, isComplete: true }
}

/** @throws UsageError */
function requirePage(page: number | undefined, pages: number): void {
  if (page !== undefined && page > pages)
    throw new UsageError(t('problem.pageAbove', { page, pages: t('counts.page', { n: pages }) }))
}

/** @throws UnansweredError when the branch moved meanwhile */
function requireSame(mount: IndexedMount, commit: string): void {
  if (commit !== mount.commit) throw new UnansweredError('index.indexing', t('problem.branchMoves'))
}

function notDelivered(answer: AnswerOf<'skills'>, { hasSourceUrls }: Source): UnansweredError {
  if (answer.status !== 'ready') throw new Error('the skill is not ready')
  const { path, serving } = answer.skill
  const said = hasSourceUrls ? t('problem.describedAt', { path, url: serving.sourceUrl }) : t('problem.describedOnly', { path })
  return new UnansweredError('file.not_served', said)
}

/** An answer of this process as its user knows what was read: a folder has no address, and the commit that was found there. */
export function asRead<Answer extends object>(
  answer: Answer,
  { folder, hasSourceUrls }: Pick<Source, 'folder' | 'hasSourceUrls'>,
): object {
  const told = hasSourceUrls ? answer : withoutSourceUrls(answer)
  if (folder === null) return told
  const commit = folder.isClean ? folder.commit : null
  const nothing = 'address' in told ? { address: null, repository: null, ref: null, pinned: null } : {}
  return { ...told, ...nothing, commit }
}

function withoutSourceUrls(answer: object): object {
  if (!('skill' in answer)) return answer
  const skill = answer.skill as Skill
  const oversized = skill.oversized?.map(file => ({ ...file, sourceUrl: null }))
  return { ...answer, skill: { ...skill, serving: { ...skill.serving, sourceUrl: null }, ...(oversized && { oversized }) } }
}

function layoutOf({ words, source, service }: Reading) {
  const { folder, address } = source
  const named = source.file === null ? words : (folder?.path ?? words)
  return {
    typed: folder === null ? formatAddress(folderOfFile(address, source.file)).slice(1) : named,
    folder,
    service: service?.setting === '--service' ? service.url : null,
    width: columnsOfOutput(),
    paint,
  }
}

function linesOf(lines: readonly string[]): string {
  return lines.map(line => `${line}\n`).join('')
}

function jsonOf(value: object): string {
  return `${escapeHidden(JSON.stringify(value, null, 2))}\n`
}
