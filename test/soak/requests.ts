import type { BrowseEntry } from '#core/contract/browse.ts'
import type { EndpointName } from '#core/contract/endpoints.ts'
import { encodePath } from '#core/repo-path.ts'
import type { Answer } from '../support/check-answer.ts'
import { endpointUrl } from '../support/test-app.ts'
import { withoutInstants } from '../support/without-instants.ts'

export type Get = (url: string) => Promise<Pick<Answer, 'status' | 'body' | 'json'>>

/** Answers that are wanted, by their requests. */
export type Answers = Map<string, { status: number; body: string }>

const QUERIES = ['how do I review a change', 'skill', 'licnse', 'reference', '書く', 'nothing has this wörd zzqx']
/** Small, so that there is more than one page. */
const PAGE = { browse: 7, find: 3, file: 2_000 }
const PAGES = 3

/**
 * Asks an address that is ready for everything that visitors ask: the mount, every folder page by page, what find says, all pages of skills,
 * files, and what is not there.
 *
 * @param most entries of a folder, and skills and files altogether, that are looked at
 */
export async function askEverything(get: Get, address: string, most: number): Promise<Answers> {
  const answers: Answers = new Map()
  const ask = createAsk(get, address, answers)

  /** All pages of a request whose answers have a cursor, or the first ones. */
  async function askPages(name: 'browse' | 'find' | 'skills', query: Record<string, string | number>, pages = PAGES) {
    const asked: Awaited<ReturnType<typeof ask>>[] = []
    for (let cursor: string | null = ''; cursor !== null && asked.length < pages; ) {
      const page: { nextCursor?: string | null } = await ask(name, { ...query, ...(cursor ? { cursor } : {}) })
      asked.push(page)
      cursor = page.nextCursor ?? null
    }
    return asked
  }

  await ask('mounts')
  const folders = ['']
  const files: string[] = []
  const skills: string[] = []
  for (const path of folders) {
    const pages = await askPages('browse', { limit: PAGE.browse, ...(path === '' ? {} : { path }) }, most)
    const entries: BrowseEntry[] = pages.flatMap(page => page.entries ?? [])
    for (const entry of entries) {
      if (entry.kind === 'directory') folders.push(entry.path)
      else files.push(entry.path)
      if (entry.kind === 'file' && entry.skill) skills.push(entry.path)
    }
    if (folders.length > most) folders.length = most
  }
  const [folder] = folders.slice(1)
  for (const query of QUERIES) {
    await askPages('find', { query, limit: PAGE.find })
    if (folder !== undefined) await askPages('find', { query, path: folder, limit: PAGE.find }, 1)
  }
  for (const path of spread(skills, most)) await askPages('skills', { path }, Number.POSITIVE_INFINITY)
  for (const path of spread(files, most)) {
    await ask('files', { path, limit: PAGE.file })
    await ask('files', { path, limit: PAGE.file, offset: PAGE.file })
  }
  if (folder !== undefined) await ask('mounts', {}, `${address}/${encodePath(folder)}`)

  await ask('mounts', {}, `${address}/not-there`)
  await ask('browse', { path: 'not-there' })
  await ask('browse', { cursor: 'not-a-cursor' })
  await ask('skills', { path: 'not-there/SKILL.md' })
  await ask('files', { path: 'not-there.md' })
  return answers
}

/** Asks an address for one answer of each kind. */
export async function askShortly(get: Get, address: string): Promise<Answers> {
  const answers: Answers = new Map()
  const ask = createAsk(get, address, answers)
  const mount = await ask('mounts')
  await ask('browse')
  await ask('find', { query: 'review the reference' })
  const [[skill], [document]] = [mount.index?.skills ?? [], mount.index?.documents ?? []]
  if (skill) await ask('skills', { path: skill.path })
  if (document) await ask('files', { path: document.path })
  return answers
}

/** Asks, keeps the answer, and gives its JSON. */
function createAsk(get: Get, address: string, answers: Answers) {
  return async (name: EndpointName, query: Record<string, string | number> = {}, at = address) => {
    const url = endpointUrl(name, at, query)
    const { status, body, json } = await get(url)
    answers.set(url, { status, body: withoutInstants(body) })
    return json
  }
}

/** So many of the items, from all over the list. */
function spread<Item>(items: readonly Item[], most: number): Item[] {
  const step = Math.max(1, items.length / most)
  return items.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
}
