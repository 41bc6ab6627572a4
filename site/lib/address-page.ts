import { type Address, atPath, formatAddress, type OwnerName, parseAddress } from '#core/address.ts'
import { isShortenedSha } from '#core/commit-sha.ts'
import type { BrowseEntry } from '#core/contract/browse.ts'
import type { FilePage } from '#core/contract/file.ts'
import type { FindPage } from '#core/contract/find.ts'
import type { SkillHistory } from '#core/contract/history.ts'
import type { Mount, Overview } from '#core/contract/mount.ts'
import type { RefList } from '#core/contract/refs.ts'
import type { FailedAnswer, FindingLevel } from '#core/contract/shared.ts'
import { FINDING_LEVELS } from '#core/finding-levels.ts'
import { parseRepoPath, ROOT } from '#core/repo-path.ts'
import type { ApiClient, ApiError } from './api-client.ts'
import { type ChangesContent, type ComparedSides, loadComparison } from './changes-view.ts'
import { cutAtParagraph } from './cut-at-paragraph.ts'
import { type Delivery, loadDelivery } from './delivery.ts'
import { type FindingsView, type FoundAtAddress, type Grouping, loadFindings, loadFound } from './findings-view.ts'
import { type FilesShown, type FolderPage, loadFolderPage } from './folder-page.ts'
import { type Governed, loadGoverned } from './governed.ts'
import { ACCOUNT_HOST, contentHref, isSkillPath, type Look, ownerHref, pageHref, VIEWS, type View } from './links.ts'
import { type AllSkills, loadOverview, type OverviewPage } from './overview.ts'
import { readBack } from './pager.ts'
import { readAddress, readOwner } from './read-address.ts'
import { findLatest, type Latest } from './refs.ts'
import type { BetweenCommits, Versions } from './versions.ts'
import { loadWithheld } from './withheld.ts'

/** The view that the URL of an address page requests. */
export interface PageRequest {
  view: View
  path: string | undefined
  query: string | undefined
  /** Of changes: the old side. */
  from: string | undefined
  /** Of changes of a file that moved: its old path. */
  was: string | undefined
  cursor: string | undefined
  /** Cursors of the pages of a list before this one. */
  back: readonly string[]
  offset: string | undefined
  /** Of a skill: the number of its page, from 1, or all pages as one. */
  page: number | 'all' | undefined
  /** Of a file: the number of the first line on the page. */
  line: number
  look: Look
  /** Of a folder. */
  files: FilesShown
  /** Of findings. */
  level: FindingLevel | undefined
  by: Grouping
  /** Of an overview: what the name, the description or the path of a listed skill contains. */
  words: string
}

type Indexing = Extract<Mount['index'], { status: 'indexing' }>

/** What the page of an address shows below its heading. */
export type PageContent =
  /** `sides`: of a comparison, with the job of the side that it waits for. */
  | { kind: 'indexing'; sides?: ComparedSides; job?: Pick<Indexing, 'stage' | 'progress'> }
  | { kind: 'failed'; errorCode: FailedAnswer['errorCode']; retryAt: string; sides?: ComparedSides }
  /** `likes`: commits that the old side of a comparison may mean. */
  | { kind: 'problem'; error: ApiError; withheld?: BrowseEntry | null; likes?: readonly string[] }
  /** `own`: of the folder of one skill, that skill, which stands in place of a list. */
  | ({ kind: 'overview'; overview: Overview; own: Delivery | null } & OverviewPage)
  | { kind: 'findings'; view: FindingsView }
  | { kind: 'refs'; refs: RefList }
  | ChangesContent
  /** Nothing to compare with: `isFirst`, nothing is older; else the host does not say what is. With the commits that changed a skill, if it says those. */
  | { kind: 'versions'; history: SkillHistory | null; isFirst: boolean }
  | ({ kind: 'browse' } & FolderPage)
  /** `null` before the first search. */
  | { kind: 'find'; page: FindPage | null }
  | ({ kind: 'skill' } & Delivery)
  | { kind: 'file'; page: FilePage }

/**
 * The data of an address page. `status` is the HTTP status of the page: that of the API's answer, if the API was asked. Unreadable addresses,
 * unknown views and empty searches are answered without it.
 */
export type AddressPage =
  /** A redirect to `location`: the host spells or names the repository differently, or the address names an account. */
  | { kind: 'moved'; location: string }
  /** The address names a file, which is at `location`: a branch may have a folder there tomorrow. */
  | { kind: 'file'; location: string }
  /** A commit is named by the beginning of its hash: the same page with all of it. */
  | { kind: 'commit'; location: string }
  /** The view has another name now. */
  | { kind: 'renamed'; location: string }
  /** `isUnknownView`: the address itself may well be shown. */
  | {
      kind: 'problem'
      status: number
      error: ApiError
      asked?: Address
      isUnknownView?: true
    }
  | {
      kind: 'mount'
      status: number
      mount: Mount
      address: Address
      request: PageRequest
      content: PageContent
      moved: Latest | null
      /** Of all levels, where skills are listed with these; `null` until the index is ready. */
      findings: FoundAtAddress | null
      /** Of changes: those that may be compared, if the host says. */
      refs: RefList | null
      /** Of changes: what lies between the two commits. */
      between: BetweenCommits | null
      /** Of a file: the skills that have their license from it. */
      governed: Governed | null
    }

/**
 * Fetches from the API everything that one page shows.
 *
 * @param rawAddress percent-encoded, as in the request
 * @param query The first value of a repeated parameter counts. Parameters of other views are ignored.
 */
export async function loadAddressPage(
  client: ApiClient,
  { versions, allSkills }: { versions: Versions; allSkills: AllSkills },
  hosts: readonly string[],
  rawAddress: string,
  query: URLSearchParams,
): Promise<AddressPage> {
  const asked = readAddress(rawAddress, hosts)
  if ('error' in asked) {
    const owner = asked.error.code === 'address.incomplete' ? accountOf(rawAddress, hosts) : null
    return owner === null ? { kind: 'problem', ...asked } : { kind: 'moved', location: ownerHref(owner.owner, 1, owner.host) }
  }
  if (query.get('view') === 'diagnostics') return { kind: 'renamed', location: pageHref(asked.address, 'findings') }
  const requested = readPageRequest(query)
  if (requested === null) return unknownView(asked.address)

  const base = requested.view === 'changes' && requested.from === undefined ? await findBase(versions, asked.address) : null
  const request = { ...requested, from: requested.from ?? base?.from }
  // Formatted again, so that the path is canonical on its way to the API.
  const asking = formatAddress(asked.address)
  const [mount, findings, view, latest, refs] = await Promise.all([
    client.get('mounts', asking, {}),
    loadFound(client, asking, LISTING_SKILLS.has(request.view)),
    loadView(client, asked.address, request, base?.isFirst),
    asked.address.ref === null ? null : findLatest(client, asked.address),
    request.view === 'changes' ? client.get('refs', asking, {}) : null,
  ])
  if (!mount.ok) {
    const { status, error } = mount
    const fileHref = error.code === 'mount.path_not_found' ? await findFile(client, asked.address) : undefined
    if (fileHref !== undefined) return { kind: 'file', location: fileHref }
    const { ref } = asked.address
    const [commit, ...others] =
      error.code === 'mount.ref_not_found' && ref !== null ? await likesOf(versions, asked.address, ref) : []
    if (commit !== undefined && others.length === 0)
      return { kind: 'commit', location: withQuery(formatAddress({ ...asked.address, ref: commit }), query) }
    return { kind: 'problem', status, error, asked: asked.address }
  }

  const address = parseAddress(mount.answer.address, hosts)
  const { owner, repository } = address
  if (owner !== asked.address.owner || repository !== asked.address.repository) {
    return { kind: 'moved', location: withQuery(formatAddress({ ...asked.address, owner, repository }), query) }
  }
  const { status, content } = view ?? {
    status: mount.status,
    content: await overviewContent(client, asked.address, mount.answer, request, allSkills),
  }
  if (content.kind === 'problem') {
    content.withheld = await loadWithheld(client, address, request.path ?? '', content.error.code)
    content.likes = content.error.code === 'mount.ref_not_found' ? await likesOf(versions, address, request.from ?? '') : []
    const [commit, ...others] = content.likes
    if (commit !== undefined && others.length === 0) {
      const whole = new URLSearchParams(query)
      whole.set('from', commit)
      return { kind: 'commit', location: withQuery(formatAddress(asked.address), whole) }
    }
  }
  const moved = latest !== null && latest.commit !== mount.answer.commit ? latest : null
  const { index } = mount.answer
  const [between, governed] = await Promise.all([
    loadBetween(versions, address, content),
    request.view === 'file' && index.status === 'ready' ? loadGoverned(client, address, index, request.path ?? '') : null,
  ])
  return {
    kind: 'mount',
    status,
    mount: mount.answer,
    address,
    request,
    content,
    moved,
    findings,
    refs: refs?.ok ? refs.answer : null,
    between,
    governed,
  }
}

/** Their lists say what was found in a skill. */
const LISTING_SKILLS: ReadonlySet<View> = new Set(['overview', 'browse', 'find'])

function unknownView(asked: Address): AddressPage {
  const message = `a page has one of these views: ${VIEWS.join(', ')}`
  return { kind: 'problem', status: 400, error: { code: 'request.invalid', message }, asked, isUnknownView: true }
}

/** What is compared with where the URL names no older side. Whatever is wrong with the address, the answer of its mount says. */
async function findBase(versions: Versions, address: Address): Promise<{ from?: string; isFirst: boolean }> {
  const base = await versions.baseOf(address).catch(() => null)
  switch (base?.kind) {
    case 'tag':
      return { from: base.ref, isFirst: false }
    case 'parent':
      return { from: base.commit, isFirst: false }
    default:
      return { isFirst: base?.kind === 'first' }
  }
}

/** The commits that a text may mean which is no branch and no tag: those whose hash begins so. */
async function likesOf(versions: Versions, address: Address, text: string): Promise<readonly string[]> {
  return isShortenedSha(text) ? await versions.commitsLike(address, text).catch(() => []) : []
}

async function loadBetween(versions: Versions, address: Address, content: PageContent): Promise<BetweenCommits | null> {
  const sides = sidesOf(content)
  return sides && (await versions.between(address, sides.from.commit, sides.to.commit).catch(() => null))
}

/** The two sides of a comparison, ready or not; `null` of other content. */
export function sidesOf(content: PageContent): ComparedSides | null {
  switch (content.kind) {
    case 'changes':
      return content.list.page
    case 'skill-changes':
    case 'file-changes':
      return content.page
    case 'indexing':
    case 'failed':
      return content.sides ?? null
    default:
      return null
  }
}

function withQuery(location: string, query: URLSearchParams): string {
  return query.size > 0 ? `${location}?${query}` : location
}

/** The owner, when the address ends after it; else `null`. */
function accountOf(rawAddress: string, hosts: readonly string[]): OwnerName | null {
  const read = readOwner(rawAddress, hosts)
  return 'owner' in read ? read : null
}

/** An address names a folder. If it names a skill or a file instead, the page that shows it. */
async function findFile(client: ApiClient, address: Address): Promise<string | undefined> {
  const { path } = address
  const root = atPath(address, ROOT)
  const found = isSkillPath(path)
    ? await client.get('skills', formatAddress(root), { path })
    : await client.get('files', formatAddress(root), { path, limit: '1' })
  // A refusal that carries a source shows that the file exists.
  return found.ok || found.error.sourceUrl !== undefined ? contentHref(root, path) : undefined
}

/** `null` for a view that does not exist. An empty parameter counts as absent. */
function readPageRequest(query: URLSearchParams): PageRequest | null {
  const named = query.get('view') || 'overview'
  const view = VIEWS.find(candidate => candidate === named)
  if (view === undefined) return null
  return {
    view,
    path: query.get('path') ?? undefined,
    query: query.get('query') || undefined,
    from: query.get('from') || undefined,
    was: query.get('was') || undefined,
    cursor: query.get('cursor') || undefined,
    back: readBack(query.get('back')),
    offset: query.get('offset') || undefined,
    page: query.get('page') === 'all' ? 'all' : readNumber(query.get('page')),
    line: readNumber(query.get('line')) ?? 1,
    look: query.get('look') === 'exact' ? 'exact' : 'rendered',
    files: query.get('files') === 'delivered' ? 'delivered' : 'all',
    level: FINDING_LEVELS.find(level => level === query.get('level')),
    by: query.get('by') === 'skill' ? 'skill' : 'kind',
    words: (query.get('words') ?? '').slice(0, FILTER_CHARACTERS),
  }
}

const FILTER_CHARACTERS = 200

/** A number from 1 on; a text that spells none counts as absent. */
function readNumber(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined
}

interface LoadedView {
  status: number
  content: PageContent
}

/** `null` for the overview, which is part of the mount. */
async function loadView(client: ApiClient, named: Address, request: PageRequest, isFirst = false): Promise<LoadedView | null> {
  const address = formatAddress(named)
  const { path, query, cursor, offset } = request
  switch (request.view) {
    case 'overview':
      return null
    case 'findings': {
      const result = await loadFindings(client, address, request)
      if (!result.ok) return problem(result)
      const { answer, status } = result
      return { status, content: 'status' in answer ? stateContent(answer) : { kind: 'findings', view: answer } }
    }
    case 'browse': {
      const result = await loadFolderPage(client, named, request)
      if (!result.ok) return problem(result)
      const { answer, status } = result
      return { status, content: 'page' in answer ? { kind: 'browse', ...answer } : stateContent(answer) }
    }
    case 'find': {
      if (query === undefined) return { status: 200, content: { kind: 'find', page: null } }
      const result = await client.get('find', address, { query, ...given({ path: path || undefined, cursor }) })
      if (!result.ok) return problem(result)
      const { answer, status } = result
      return { status, content: answer.status === 'ready' ? { kind: 'find', page: answer } : stateContent(answer) }
    }
    case 'skill': {
      const result = await loadDelivery(client, address, path ?? '', request)
      if (!result.ok) return problem(result)
      const { answer, status } = result
      return { status, content: 'page' in answer ? { kind: 'skill', ...answer } : stateContent(answer) }
    }
    case 'changes':
      return await loadChanges(client, named, request, isFirst)
    case 'refs': {
      const result = await client.get('refs', address, {})
      return result.ok ? { status: result.status, content: { kind: 'refs', refs: result.answer } } : problem(result)
    }
    case 'file': {
      const result = await client.get('files', address, { path: path ?? '', ...given({ offset }) })
      if (!result.ok) return problem(result)
      return { status: result.status, content: { kind: 'file', page: cutAtParagraph(result.answer) } }
    }
  }
}

/**
 * Without anything to compare with, the page has the commits that the host lists. If the host does not answer with a history now, for example because
 * the quota is spent, the page is shown without it.
 */
async function loadChanges(
  client: ApiClient,
  address: Address,
  { from, ...request }: PageRequest,
  isFirst: boolean,
): Promise<LoadedView> {
  if (from === undefined) {
    const history = isFirst ? null : await loadHistory(client, address, request.path)
    return { status: 200, content: { kind: 'versions', history, isFirst } }
  }
  const result = await loadComparison(client, address, { from, ...request })
  if ('error' in result) return problem(result)
  const { status } = result
  if (!('state' in result)) return { status, content: result.content }
  const { state } = result
  const content = stateContent(state)
  const job = content.kind === 'indexing' ? { job: await loadJob(client, address, from, state) } : {}
  return { status, content: { ...content, sides: state, ...job } }
}

/** What the job of the older side does, or, where that is ready, of the newer one; nothing where the job ended meanwhile. */
async function loadJob(
  client: ApiClient,
  address: Address,
  from: string,
  state: { from: { status: string } },
): Promise<Pick<Indexing, 'stage' | 'progress'>> {
  const ref = state.from.status === 'indexing' ? from : address.ref
  const mount = await client.get('mounts', formatAddress({ ...atPath(address, ROOT), ref }), {})
  if (!mount.ok || mount.answer.index.status !== 'indexing') return {}
  const { stage, progress } = mount.answer.index
  return { ...(stage && { stage }), ...(progress && { progress }) }
}

/**
 * The commits that changed a skill, or what a folder lists. Of a folder only where a host tells the commits of many files at once: a host with
 * accounts is asked about each, within its quota.
 */
async function loadHistory(client: ApiClient, address: Address, path: string | undefined): Promise<SkillHistory | null> {
  const ofSkill = path !== undefined && isSkillPath(path)
  const folder = path ? parseRepoPath(path) : address.path
  if (!ofSkill && (address.host === ACCOUNT_HOST || folder === null)) return null
  const history = ofSkill
    ? await client.get('history', formatAddress(address), { path })
    : await client.get('history', formatAddress(atPath(address, folder ?? ROOT)), {})
  return history.ok && history.answer.status === 'ready' ? history.answer : null
}

/** Only the files endpoint answers the index state as an error; the page shows it as a state. */
function problem({ status, error }: { status: number; error: ApiError }): LoadedView {
  return { status, content: error.code === 'index.indexing' ? { kind: 'indexing' } : { kind: 'problem', error } }
}

async function overviewContent(
  client: ApiClient,
  address: Address,
  { index }: Mount,
  request: PageRequest,
  allSkills: AllSkills,
): Promise<PageContent> {
  if (index.status !== 'ready') return stateContent(index)
  const [shown, own] = await Promise.all([
    loadOverview(client, address, index, request, allSkills),
    loadOwnSkill(client, address, index),
  ])
  return { kind: 'overview', overview: index, own, ...shown }
}

/** The skill of which the address is the folder, if it has no others: people paste links to such folders. A repository has more to say than one skill. */
async function loadOwnSkill(client: ApiClient, address: Address, { skills, counts }: Overview): Promise<Delivery | null> {
  const [skill] = skills
  if (address.path === ROOT || counts.skills !== 1 || skill?.directory !== address.path) return null
  const result = await loadDelivery(client, formatAddress(address), skill.path, { page: undefined, cursor: undefined })
  return result.ok && 'page' in result.answer ? result.answer : null
}

function stateContent(
  state: { status: 'indexing' } | Pick<FailedAnswer, 'status' | 'errorCode' | 'retryAt'>,
): Extract<PageContent, { kind: 'indexing' | 'failed' }> {
  return state.status === 'indexing'
    ? { kind: 'indexing' }
    : { kind: 'failed', errorCode: state.errorCode, retryAt: state.retryAt }
}

function given<Name extends string>(parameters: Record<Name, string | undefined>): Partial<Record<Name, string>> {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined)) as Partial<
    Record<Name, string>
  >
}
