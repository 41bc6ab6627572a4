import { hash } from 'node:crypto'
import { mapFew } from '#core/concurrency/map-few.ts'
import type { BrowseEntry } from '#core/contract/browse.ts'
import type { AnswerOf, QueryInputOf } from '#core/contract/endpoints.ts'
import type { Skill } from '#core/contract/skill.ts'
import { BROWSE_LIMIT } from '#core/limits.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import { compareBytes } from '#core/text.ts'
import { t } from '#words/t.ts'
import { type Answers, askIndexed, type IndexedMount, UnansweredError, type Waiting } from '../answers.ts'
import type { PinnedAddress, PinnedFile, PinnedSkill, PinnedText } from './lock-file.ts'

/** How often reading starts again when a branch moves meanwhile. */
const ATTEMPTS = 3

/** The branch moved between two answers. */
class MovedError extends Error {}

/**
 * Reads what an address has now: its commit, and the digests of its skills. All of it is of one commit.
 *
 * @param address canonical
 * @throws UnansweredError
 */
export async function readPin(answers: Answers, address: string, waiting: Waiting): Promise<PinnedAddress> {
  for (let attempt = 1; ; attempt++) {
    const mount = await askIndexed(answers, address, waiting)
    try {
      const listed = await listSkills(answers, mount)
      const skills = await mapFew(listed, skill => readSkill(answers, mount, skill), answers.atOnce)
      const { commit, index } = mount
      return { address: mount.address, commit, ...(index.truncated && { partial: true }), skills }
    } catch (error) {
      if (!(error instanceof MovedError)) throw error
      if (attempt === ATTEMPTS) throw new UnansweredError('index.indexing', t('problem.branchMoves'))
    }
  }
}

/** A `SKILL.md`, and the digest of its bytes; `null` where the service does not hold them. */
type ListedSkill = PinnedFile

/** Every skill below the mounted folder, by path. */
async function listSkills(answers: Answers, mount: IndexedMount): Promise<ListedSkill[]> {
  const skills: ListedSkill[] = []
  let folders = [mount.path]
  while (folders.length > 0) {
    const pages = await mapFew(folders, folder => readFolder(answers, mount, folder), answers.atOnce)
    const entries = pages.flat()
    for (const entry of entries) {
      if (entry.kind === 'file' && entry.skill) skills.push({ path: entry.path, sha256: entry.sha256 ?? null })
    }
    folders = entries.flatMap(entry => (entry.kind === 'directory' && entry.counts.skills > 0 ? [entry.path] : []))
  }
  return skills.sort((left, right) => compareBytes(left.path, right.path))
}

async function readFolder(answers: Answers, mount: IndexedMount, path: string): Promise<BrowseEntry[]> {
  const pages = await readPages(answers, mount, 'browse', { path, limit: String(BROWSE_LIMIT.max) })
  return pages.flatMap(page => page.entries)
}

async function readSkill(answers: Answers, mount: IndexedMount, listed: ListedSkill): Promise<PinnedSkill> {
  const { path } = listed
  const pages = (await readPages(answers, mount, 'skills', { path })).map(page => page.skill)
  const [skill] = pages as [Skill, ...Skill[]]
  const { name, description, frontMatter, translations, serving } = skill
  const metadata = digestOf(canonicalJson({ name, description, frontMatter, translations }))
  const known = { path, metadata, license: serving.license }
  if (!serving.full) return { ...known, sha256: null, delivery: 'described', rules: [], body: null, includes: [], files: [] }
  return {
    ...known,
    sha256: skill.sha256 ?? null,
    ...(skill.sha256 === undefined && { delivery: 'incomplete' }),
    rules: textsOf(pages.flatMap(page => page.ruleChain ?? [])),
    body: digestOf(pages.map(page => page.body).join('')),
    includes: textsOf(pages.flatMap(page => page.includes ?? [])),
    files: [listed, ...filesOf(skill)].sort((left, right) => compareBytes(left.path, right.path)),
  }
}

/** Joins the fragments of each file. */
function textsOf(fragments: readonly { path: string; content: string }[]): PinnedText[] {
  return [...Map.groupBy(fragments, ({ path }) => path)].map(([path, parts]) => {
    return { path, sha256: digestOf(parts.map(({ content }) => content).join('')) }
  })
}

function digestOf(text: string): string {
  return hash('sha256', text)
}

function filesOf({ path, files = [], fileDetails = [], oversized = [] }: Skill): PinnedFile[] {
  const digests = new Map(fileDetails.map(file => [file.path, file.sha256]))
  const paths = new Set([...files, ...oversized.map(file => file.path)])
  paths.delete(path)
  return [...paths].map(path => ({ path, sha256: digests.get(path) ?? null }))
}

/** All pages of an answer. @throws MovedError also when a cursor is refused: it belongs to one commit */
async function readPages<Name extends 'browse' | 'skills'>(
  answers: Answers,
  mount: IndexedMount,
  name: Name,
  query: QueryInputOf<Name>,
): Promise<Ready<AnswerOf<Name>>[]> {
  const pages: Ready<AnswerOf<Name>>[] = []
  let cursor: string | undefined
  do {
    const page = atCommit(mount, await askPage(answers, mount.address, name, { ...query, cursor }))
    pages.push(page)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return pages
}

async function askPage<Name extends 'browse' | 'skills'>(
  answers: Answers,
  address: string,
  name: Name,
  query: QueryInputOf<Name>,
): Promise<AnswerOf<Name>> {
  try {
    return await answers.get(name, address, query)
  } catch (error) {
    const isCursorRefused = query.cursor !== undefined && error instanceof UnansweredError && error.code === 'request.invalid'
    throw isCursorRefused ? new MovedError() : error
  }
}

type Ready<Answer> = Extract<Answer, { status: 'ready' }>

/** The answer, if it is of the commit that is being read. @throws MovedError */
function atCommit<Answer extends AnswerOf<'browse' | 'skills'>>({ commit }: IndexedMount, answer: Answer): Ready<Answer> {
  if (answer.status !== 'ready' || answer.commit !== commit) throw new MovedError()
  return answer as Ready<Answer>
}
