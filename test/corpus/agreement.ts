import { posix } from 'node:path'
import { expect } from 'vitest'
import { encodePath } from '#core/repo-path.ts'
import type { CorpusApp } from '#test/support/corpus.ts'
import { joinFile, joinSkill, walkFolders } from '#test/support/joined.ts'
import type { ExpectedSkill, Oracle } from '#test/support/oracle.ts'
import { endpointUrl } from '#test/support/test-app.ts'

export interface AskedMount {
  repository: { owner: string; name: string }
  /** The mounted folder; `''`: the root. */
  folder: string
  /** What licenses say, which the oracle does not read. */
  isServed: (path: string) => boolean
  /** Asks for one file in so many only. Default: 1. */
  everyFile?: number
}

/** What was compared. */
export interface Compared {
  skills: number
  incomplete: number
  pages: number
  files: number
  refused: number
  linked: number
}

/** Asks the service for everything that there is below a folder, and compares it with what the oracle read from git. */
export async function compareMount(service: CorpusApp, oracle: Oracle, asked: AskedMount): Promise<Compared> {
  const { folder, repository } = asked
  const address = `/local/${repository.owner}/${repository.name}${folder === '' ? '' : `/${encodePath(folder)}`}`
  const inside = (path: string) => folder === '' || path.startsWith(`${folder}/`)
  const compared: Compared = { skills: 0, incomplete: 0, pages: 0, files: 0, refused: 0, linked: 0 }
  const skills = oracle.skills.filter(({ path }) => inside(path))

  await compareFolders(service, address, oracle, skills, inside, asked.isServed)
  for (const skill of skills) {
    const full = asked.isServed(skill.path)
    const pages = full
      ? await compareSkill(service, address, oracle, skill, inside)
      : await compareDescription(service, address, skill)
    // Summaries leave second paths out.
    if (skill.isSecond) continue
    compared.skills++
    compared.pages += pages
    if (full && !skill.complete) compared.incomplete++
  }
  await compareFiles(service, address, oracle, asked, inside, compared)
  return compared
}

async function compareFolders(
  service: CorpusApp,
  address: string,
  oracle: Oracle,
  skills: readonly ExpectedSkill[],
  inside: (path: string) => boolean,
  isServed: (path: string) => boolean,
): Promise<void> {
  const listed = skills.filter(skill => !skill.internal)
  const isPage = ([path, owner]: [string, string]) => {
    const skillPath = posix.join(owner, 'SKILL.md')
    return inside(path) && !inside(skillPath) && isServed(path) && isServed(skillPath) && oracle.textOf(path) !== null
  }
  const documentsInside = [...oracle.documents].filter(inside).concat([...oracle.pages].filter(isPage).map(([path]) => path))
  const countsBelow = (folder: string) => {
    const below = (path: string) => folder === '' || path.startsWith(`${folder}/`)
    const documents = documentsInside.filter(below).length
    return { skills: listed.filter(({ path }) => below(path)).length, documents }
  }
  const entries = await walkFolders(service, address)
  const files = entries.filter(entry => entry.kind === 'file').map(({ path }) => path)
  expect(files.toSorted()).toEqual([...oracle.listed].filter(inside).toSorted())
  for (const entry of entries) {
    if (entry.kind === 'directory') expect(entry.counts, entry.path).toEqual(countsBelow(entry.path))
  }
  expect(entries.flatMap(({ kind, skill }) => (kind === 'file' && skill ? [skill.path] : [])).toSorted()).toEqual(
    listed.map(({ path }) => path).toSorted(),
  )
  const mount = await service.get('mounts', address)
  expect(mount.index).toMatchObject({ status: 'ready', counts: countsBelow('') })
}

async function compareSkill(
  service: CorpusApp,
  address: string,
  oracle: Oracle,
  { path, directory, context, complete, files }: ExpectedSkill,
  inside: (path: string) => boolean,
): Promise<number> {
  const joined = await joinSkill(service, address, path)
  const { rules, body, includes, first } = joined
  expect({ rules, body, includes }, path).toEqual(context)
  expect(joined.complete, path).toBe(complete)
  expect(joined.order, path).toEqual(joined.order.toSorted((left, right) => ORDER.indexOf(left) - ORDER.indexOf(right)))
  expect(first.files, path).toEqual(files.slice(0, 500))
  // No page is larger than 16 KiB, and none but the last leaves more than 1 KiB of it.
  const bytes = [...rules, { text: body }, ...includes].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  expect(joined.pages, path).toBeGreaterThanOrEqual(Math.ceil(bytes / 16_384))
  expect(joined.pages, path).toBeLessThanOrEqual(Math.max(1, Math.ceil(bytes / 15_361)))
  const readable = (target: string) => inside(target) && !oracle.withheld.has(target) && oracle.textOf(target) !== null
  const linked = linkedFiles(body, directory).filter(target => target !== path && readable(target))
  if (first.references?.length !== 200) expect(first.references, path).toEqual(expect.arrayContaining(linked))
  // Every reference can be read from here, and none is made up.
  for (const reference of first.references ?? []) {
    expect(inside(reference) && (oracle.readable.has(reference) || oracle.unlisted.has(reference)), reference).toBe(true)
    expect(await joinFile(service, address, reference), reference).toBe(oracle.textOf(reference))
  }
  return joined.pages
}

const ORDER = ['rule', 'body', 'include']

/** Where plain inline links of a Markdown text lead, as far as that can be told without a parser. */
function linkedFiles(markdown: string, folder: string): string[] {
  const prose = markdown
    .replace(/^ *(```+|~~~+)[\s\S]*?^ *\1/gm, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/`[^`\n]*`/g, '')
    .replace(/^(?: {4}|\t).*$/gm, '')
  const targets = [...prose.matchAll(/\]\(([^()\s<>]+)\)/g)].map(([, target = '']) => target.replace(/[?#].*$/, ''))
  return targets.filter(target => target !== '' && !/^(?:[a-z]+:|\/)/i.test(target)).map(target => posix.join(folder, target))
}

async function compareDescription(service: CorpusApp, address: string, { path }: ExpectedSkill): Promise<number> {
  const answer = await service.get('skills', address, { path })
  expect(answer, path).toMatchObject({ complete: true, nextCursor: null, skill: { body: '', serving: { full: false } } })
  for (const absent of ['ruleChain', 'files', 'includes', 'references'])
    expect(answer, path).not.toHaveProperty(['skill', absent])
  return 1
}

async function compareFiles(
  service: CorpusApp,
  address: string,
  oracle: Oracle,
  { isServed, everyFile = 1 }: AskedMount,
  inside: (path: string) => boolean,
  compared: Compared,
): Promise<void> {
  const some = (_path: string, index: number) => index % everyFile === 0
  const wrong: string[] = []
  for (const path of [...oracle.readable.keys()].filter(some)) {
    const content = oracle.readable.get(path) ?? null
    if (!inside(path) || !isServed(path) || content === null) {
      const code = await refusalOf(service, address, path)
      const expected = !inside(path)
        ? ['file.not_found']
        : isServed(path)
          ? ['file.not_text', 'file.too_large']
          : ['file.not_served']
      if (!expected.includes(code)) wrong.push(`${path}: ${code}, not ${expected}`)
      compared.refused++
    } else {
      if ((await joinFile(service, address, path)) !== content) wrong.push(`${path}: other text`)
      compared.files++
    }
  }
  for (const path of [...oracle.withheld, ...oracle.links].filter(some)) {
    const code = await refusalOf(service, address, path)
    if (code !== 'file.not_found') wrong.push(`${path}: ${code}, though it is withheld or a link`)
    compared.refused++
  }
  for (const path of [...oracle.unlisted].filter(some)) {
    const code = await refusalOf(service, address, path)
    if (code === 'file.not_found') compared.refused++
    else if (!inside(path) || !isMentioned(oracle, path)) wrong.push(`${path}: ${code}, though nothing speaks of it`)
    else if (code !== 'none' || (await joinFile(service, address, path)) !== oracle.textOf(path)) wrong.push(`${path}: ${code}`)
    else compared.linked++
  }
  expect(wrong).toEqual([])
}

/** The code that a file is refused with, or `none`. */
async function refusalOf(service: CorpusApp, address: string, path: string): Promise<string> {
  const answer = await service.app.get(endpointUrl('files', address, { path, limit: 1 }))
  return answer.status === 200 ? 'none' : answer.json.error.code
}

function isMentioned(oracle: Oracle, path: string): boolean {
  const name = posix.basename(path)
  return [...oracle.readable.values()].some(text => text?.includes(name) || text?.includes(encodeURIComponent(name)))
}
