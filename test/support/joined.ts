import type { BrowseEntry } from '#core/contract/browse.ts'
import type { AnswerOf } from '#core/contract/endpoints.ts'
import type { Fragment, FragmentOfFile } from '#core/contract/shared.ts'
import type { Skill } from '#core/contract/skill.ts'
import type { ExpectedContext } from './oracle.ts'
import type { Service } from './service.ts'

/** Everything that a client asks for, however it asks: a running process or an app in this one. */
export type Client = Pick<Service, 'get'>

/** All pages of a skill joined, every fragment checked against where it has to begin. `first` is the skill of the first page. */
export async function joinSkill(
  client: Client,
  address: string,
  path: string,
): Promise<ExpectedContext & { first: Skill; complete: boolean; pages: number; order: string[] }> {
  const joined = { rules: [] as Piece[], includes: [] as Piece[], body: '', order: [] as string[] }
  let bodyLength = 0
  const firsts: Skill[] = []
  let cursor: string | null | undefined = null
  for (let pages = 1; ; pages++) {
    const answer: AnswerOf<'skills'> = await client.get('skills', address, { path, ...(cursor ? { cursor } : {}) })
    if (answer.status !== 'ready') throw new Error(`not ready: ${answer.status}`)
    const { skill } = answer
    firsts.push(skill)
    const text = [...(skill.ruleChain ?? []), ...(skill.includes ?? [])].map(piece => piece.content).join('') + skill.body
    if (Buffer.byteLength(text) > 16_384) throw new Error(`a page of ${Buffer.byteLength(text)} bytes`)
    for (const piece of skill.ruleChain ?? []) append(joined.rules, piece)
    if (skill.bodyFragment) {
      checkFragment(skill.bodyFragment, bodyLength, skill.body)
      bodyLength += skill.bodyFragment.length
      joined.body += skill.body
    }
    for (const piece of skill.includes ?? []) append(joined.includes, piece)
    joined.order.push(
      ...(skill.ruleChain ?? []).map(() => 'rule'),
      ...(skill.bodyFragment ? ['body'] : []),
      ...(skill.includes ?? []).map(() => 'include'),
    )
    if (answer.complete || !answer.nextCursor) return { ...joined, first: firsts[0] as Skill, complete: answer.complete, pages }
    cursor = answer.nextCursor
  }
}

/** All pages of a file joined. */
export async function joinFile(client: Client, address: string, path: string, limit?: number): Promise<string> {
  let content = ''
  let offset: number | null = 0
  while (offset !== null) {
    const page: { content: string; nextOffset: number | null } = await client.get('files', address, {
      path,
      offset: String(offset),
      ...(limit ? { limit: String(limit) } : {}),
    })
    content += page.content
    offset = page.nextOffset
  }
  return content
}

/** Every entry below a folder, page by page. */
export async function walkFolders(client: Client, address: string, path?: string, limit = 200): Promise<BrowseEntry[]> {
  const found: BrowseEntry[] = []
  let cursor: string | null = null
  do {
    const answer: AnswerOf<'browse'> = await client.get('browse', address, {
      ...(path === undefined ? {} : { path }),
      limit: String(limit),
      ...(cursor ? { cursor } : {}),
    })
    if (answer.status !== 'ready') throw new Error(`not ready: ${answer.status}`)
    for (const entry of answer.entries) {
      found.push(entry)
      if (entry.kind === 'directory') found.push(...(await walkFolders(client, address, entry.path, limit)))
    }
    cursor = answer.nextCursor
  } while (cursor)
  return found
}

interface Piece {
  path: string
  text: string
}

function append(pieces: Piece[], { path, content, fragment }: FragmentOfFile): void {
  const open = pieces.at(-1)
  const current = open?.path === path ? open : { path, text: '' }
  if (current !== open) pieces.push(current)
  checkFragment(fragment, [...current.text].length, content)
  current.text += content
}

function checkFragment(fragment: Fragment, offset: number, content: string): void {
  const length = [...content].length
  if (fragment.offset !== offset || fragment.length !== length || fragment.last !== (offset + length === fragment.totalLength)) {
    throw new Error(`a fragment that does not fit: ${JSON.stringify({ fragment, offset, length })}`)
  }
}
