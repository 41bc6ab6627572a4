import { formatAddress } from '#core/address.ts'
import type { BrowseEntry } from '#core/contract/browse.ts'
import type { FindPage } from '#core/contract/find.ts'
import type { RefList } from '#core/contract/refs.ts'
import { FINDING_LEVELS } from '#core/finding-levels.ts'
import type { AddressPage, PageContent } from './address-page.ts'
import { changeSign, factsOf, isDescribedOnly, SIGNS, withheldItems } from './changes.ts'
import type { ChangesList, FileChanges } from './changes-view.ts'
import { type Delivery, partsOf } from './delivery.ts'
import type { FileDifference } from './file-difference.ts'
import type { FindingsView } from './findings-view.ts'
import { spellHidden } from './hidden-characters.ts'
import { contentHref, pageHref } from './links.ts'
import { aboutOf } from './overview.ts'
import { tagsOf, versionsOf } from './refs.ts'
import type { ChangedFile } from './skill-files.ts'
import { ENGLISH } from './ui.ts'

type MountPage = Extract<AddressPage, { kind: 'mount' }>

/**
 * The page of an address as Markdown, for agents: the same content without a frame. Texts of the repository stand in fences that they cannot
 * close; names and descriptions stand on one line.
 *
 * @param baseUrl public origin, for links that work from anywhere
 */
export function formatMarkdownPage(page: MountPage, baseUrl: string): string {
  const { address, mount, content } = page
  const link = (words: string, href: string) => `[${inline(words)}](${baseUrl}${href})`
  const isPrivate = mount.repository.visibility === 'private'
  const lines = [
    `# ${formatAddress(address).slice(1)}`,
    '',
    `${isPrivate ? 'Private repository. ' : ''}Commit ${mount.commit}.`,
    '',
  ]
  return `${[...lines, ...linesOf(page, content, link)].join('\n').trimEnd()}\n`
}

/** An error of a page as Markdown. */
export function formatMarkdownProblem(status: number, error: { code: string; message: string }): string {
  return `# ${status} ${error.code}\n\n${inline(error.message)}\n`
}

type Link = (words: string, href: string) => string

function linesOf(page: MountPage, content: PageContent, link: Link): string[] {
  switch (content.kind) {
    case 'indexing':
      return ['This commit is being indexed. Ask again in a second.']
    case 'failed':
      return [`Indexing failed: ${content.errorCode}. The first request after ${content.retryAt} starts another attempt.`]
    case 'problem':
      return [`Error ${content.error.code}: ${inline(content.error.message)}`]
    case 'overview':
      return overviewLines(page, content, link)
    case 'findings':
      return findingLines(page, content.view, link)
    case 'refs':
      return refLines(page, content.refs, link)
    case 'changes':
      return changesLines(page, content.list, link)
    case 'versions':
      return versionLines(page, content, link)
    case 'skill-changes':
      return skillChangesLines(page, content, link)
    case 'file-changes':
      return fileChangesLines(content.page)
    case 'browse':
      return content.page.entries.map(entry => entryLine(page, entry, link))
    case 'find':
      return content.page === null ? ['Add `&query=` with the words to find.'] : findLines(page, content.page, link)
    case 'skill':
      return skillLines(content)
    case 'file':
      return [`## ${inline(content.page.path)}`, '', fence(content.page.content), ...restOf(page, content.page, link)]
  }
}

function findingLines({ address, request }: MountPage, { groups, counts, nextCursor }: FindingsView, link: Link): string[] {
  const { t } = ENGLISH
  const sums = FINDING_LEVELS.map(level => `${t(`findings.levels.${level}`)}: ${counts[level]}`)
  const rows = groups.flatMap(({ findings }) =>
    findings.map(({ finding: { level, code, path, line, message, skill } }) => {
      const place = `${path === '' ? t('findings.repository') : path}${line === undefined ? '' : `:${line}`}`
      const of = skill === undefined || skill === path ? '' : ` (${inline(skill)})`
      return `- ${level} \`${code}\` ${inline(place)}${of}: ${inline(message)}`
    }),
  )
  const { path, level, by } = request
  const next =
    nextCursor === null ? [] : ['', link('Next page', pageHref(address, 'findings', { path, level, by, cursor: nextCursor }))]
  return rows.length === 0 ? [t('findings.none')] : [`${sums.join(', ')}.`, '', ...rows, ...next]
}

function refLines({ address }: MountPage, refs: RefList, link: Link): string[] {
  const hrefOf = (ref: string) => pageHref({ ...address, ref }, 'overview')
  return [
    ...refs.branches.map(({ name, commit }) => `- branch ${link(name, hrefOf(name))} ${commit}`),
    ...tagsOf(refs).map(({ name, ref }) => `- tag ${link(name, hrefOf(ref))}`),
  ]
}

function versionLines(
  { address, mount, request, refs }: MountPage,
  { history }: Extract<PageContent, { kind: 'versions' }>,
  link: Link,
): string[] {
  const versions = refs === null ? [] : versionsOf(refs, address, mount.commit)
  const hrefOf = (from: string) => pageHref(address, 'changes', { path: request.path, from })
  return [
    'Add `&from=` with a branch, a tag or a commit.',
    '',
    ...(history?.commits ?? []).map(({ commit, committedAt, subject }) =>
      [`- since ${link(commit, hrefOf(commit))}`, committedAt, subject && inline(subject)].filter(Boolean).join(' '),
    ),
    ...versions.map(({ ref, name }) => `- since ${link(name, hrefOf(ref))}`),
  ]
}

function changesLines(
  { address, request }: MountPage,
  { page: { from, items, notCompared, nextCursor }, instructions, uncompared }: ChangesList,
  link: Link,
): string[] {
  const { t } = ENGLISH
  const untold = withheldItems(notCompared, ENGLISH)
  const same = untold === null ? t('changes.same') : t('changes.sameCompared')
  const hrefOf = (parameters: object) => pageHref(address, 'changes', { from: request.from, ...parameters })
  const first = instructions
    .filter(({ change }) => change !== 'unchanged')
    .map(({ path, change }) => `- ${changeSign(change)} ${link(path, hrefOf({ path }))}: ${t('changes.readBefore')}, ${change}`)
  const others = items.map(item => {
    const what = [item.kind, item.change, ...item.parts].join(', ')
    const facts = item.kind === 'manifest' ? [] : factsOf(item.facts, t)
    const name = item.kind === 'skill' ? link(item.path, hrefOf({ path: item.path })) : inline(item.path)
    return [`- ${SIGNS[item.change]} ${name}: ${what}`, ...facts.map(fact => `  - ${inline(fact)}`)].join('\n')
  })
  const next = nextCursor === null ? [] : ['', link('Next page', hrefOf({ path: request.path, cursor: nextCursor }))]
  const names = uncompared.map(({ kind, path }) => `- ${kind} ${link(path, contentHref(address, path))}`)
  const told = untold === null ? [] : ['', t('changes.notCompared', { items: untold }), ...names]
  const rows = [...first, ...others]
  return [`From commit ${from.commit}.`, '', ...(rows.length === 0 ? [same] : rows), ...told, ...next]
}

function skillChangesLines(
  { address, request }: MountPage,
  { page, files }: Extract<PageContent, { kind: 'skill-changes' }>,
  link: Link,
): string[] {
  const { from, skill, entries } = page
  const { t } = ENGLISH
  const facts = factsOf(skill.facts, t)
  const isDescribed = isDescribedOnly(skill)
  const change = isDescribed && skill.change === 'unchanged' ? t('changes.untold') : skill.change
  const hrefOf = ({ path, movedFrom }: ChangedFile) => pageHref(address, 'changes', { path, was: movedFrom, from: request.from })
  return [
    `## ${inline(skill.path)}`,
    '',
    ...(isDescribed ? [t('changes.textNotCompared'), ''] : []),
    `${change}${skill.parts.length > 0 ? `: ${skill.parts.join(', ')}` : ''}. From commit ${from.commit}.`,
    ...facts.map(fact => `- ${inline(fact)}`),
    ...entries.flatMap(({ kind, path, change, content }) => [
      '',
      `### ${kind}: ${inline(path)} (${change})`,
      ...(content === '' ? [] : ['', fence(content)]),
    ]),
    ...files.flatMap(file => [
      '',
      `### file: ${file.difference ? inline(file.path) : link(file.path, hrefOf(file))} (${file.change})`,
      ...differenceFence(file.difference),
    ]),
  ]
}

function fileChangesLines({ from, file }: FileChanges): string[] {
  return [`## ${inline(file.path)}`, '', `${file.change}. From commit ${from.commit}.`, ...differenceFence(file)]
}

function differenceFence(file: FileDifference | null): string[] {
  const whole = file?.pieces?.join('') ?? ''
  return whole === '' ? [] : ['', fence(whole)]
}

function overviewLines(
  { address, mount }: MountPage,
  { overview, readme, readmeStart }: Extract<PageContent, { kind: 'overview' }>,
  link: Link,
): string[] {
  const { counts, skills, documents, license } = overview
  const { name = null, description = null } = aboutOf(mount, address, readmeStart) ?? {}
  const about = [name, description].filter(words => words !== null).map(inline)
  return [
    ...(about.length === 0 ? [] : [`> ${about.join(': ')}`, '']),
    `${ENGLISH.t('counts.skill', { n: counts.skills })}, ${ENGLISH.t('counts.document', { n: counts.documents })}, ${ENGLISH.license(license)}.`,
    '',
    '## Skills',
    '',
    ...skills.map(({ name, path, description }) => `- ${link(name, contentHref(address, path))}: ${inline(description)}`),
    ...(counts.skills > skills.length ? [`- ${link(`all ${counts.skills}`, pageHref(address, 'browse'))}`] : []),
    '',
    '## Documents',
    '',
    ...documents.map(({ title, path, summary }) => `- ${link(title, contentHref(address, path))}: ${inline(summary)}`),
    ...(readme === null ? [] : ['', `## ${inline(readme.path)}`, '', fence(readme.content)]),
  ]
}

function entryLine({ address }: MountPage, entry: BrowseEntry, link: Link): string {
  if (entry.skill)
    return `- skill ${link(entry.skill.name, contentHref(address, entry.skill.path))}: ${inline(entry.skill.description)}`
  if (entry.kind === 'file') return `- file ${link(entry.path, contentHref(address, entry.path))}`
  const { counts, path } = entry
  return `- folder ${link(`${path}/`, pageHref(address, 'browse', { path }))}: ${ENGLISH.t('counts.skill', { n: counts.skills })}, ${ENGLISH.t('counts.document', { n: counts.documents })}`
}

function findLines({ address, request }: MountPage, { items, nextCursor }: FindPage, link: Link): string[] {
  const found = items.map(item =>
    item.kind === 'skill'
      ? `- skill ${link(item.name, contentHref(address, item.path))}: ${inline(item.description)}`
      : `- document ${link(item.title, contentHref(address, item.path))}: ${inline(item.summary)}`,
  )
  const { query, path } = request
  const next = nextCursor === null ? [] : ['', link('Next page', pageHref(address, 'find', { query, path, cursor: nextCursor }))]
  return [...(found.length === 0 ? ['Nothing matches these words.'] : found), ...next]
}

function skillLines(delivery: Delivery): string[] {
  const { page } = delivery
  const { skill } = page
  const { files = [], references = [] } = skill
  const state = !skill.serving.full
    ? 'The license permits a description only.'
    : page.complete
      ? 'Complete: all texts that an agent receives follow, in order.'
      : 'Incomplete: do not follow this skill before all of it is there.'
  return [
    `## Skill ${inline(skill.name)}`,
    '',
    inline(skill.description),
    '',
    `${inline(skill.path)}, ${ENGLISH.license(skill.serving.license)}. ${state}`,
    ...partsOf(delivery).flatMap(({ kind, path, content }) => [
      '',
      `### ${ENGLISH.t(`skill.kinds.${kind}`)}: ${inline(path)}`,
      '',
      fence(content),
    ]),
    ...listOf('References, to be read on demand', references),
    ...listOf('Supporting files', files),
  ]
}

function listOf(title: string, paths: readonly string[]): string[] {
  return paths.length === 0 ? [] : ['', `### ${title}`, '', ...paths.map(path => `- ${inline(path)}`)]
}

function restOf({ address, request }: MountPage, page: { path: string; nextOffset: number | null }, link: Link): string[] {
  if (page.nextOffset === null) return []
  const href = pageHref(address, 'file', { path: page.path, offset: page.nextOffset, look: request.look })
  return ['', link('Next page', href)]
}

/** A text in a fence that is longer than every run of tildes in it. */
function fence(text: string): string {
  const longest = (text.match(/~+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2)
  const mark = '~'.repeat(longest + 1)
  return `${mark}\n${text}${text.endsWith('\n') || text === '' ? '' : '\n'}${mark}`
}

/** Words of a repository on one line, without markup and hidden characters. */
function inline(text: string): string {
  return spellHidden(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>]/g, '\\$&')
    .trim()
}
