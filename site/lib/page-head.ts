import { formatAddress } from '#core/address.ts'
import { isCommitSha } from '#core/commit-sha.ts'
import { baseNameOf, parentOf, type RepoPath } from '#core/repo-path.ts'
import type { AddressPage, PageContent, PageRequest } from './address-page.ts'
import { titleOfError } from './format.ts'
import { isSkillPath, type View } from './links.ts'
import type { Lost } from './not-found.ts'
import type { About } from './overview.ts'
import type { Ui } from './ui.ts'

/** What a tab, the history of a browser, a search engine and the preview of a link say of a page. */
export interface PageHead {
  /** What the page shows, the narrowest part first, without the address. */
  subject: string
  /** With the address and the name of the site. Later pages of a list have that of its first one. */
  title: string
  /** Absent where the page shows nothing of the address. */
  description?: string
}

type MountPage = Extract<AddressPage, { kind: 'mount' }>

/** Folders in which a skill usually lies: its title does not name them. */
const USUAL_FOLDER = /^(?:skills\/)?[^/]*$/

/**
 * @param page not a redirect
 * @param about what the address is
 * @param spelled the address as the request spells it, where it cannot be read
 */
export function headOf(
  page: Extract<AddressPage, { kind: 'mount' | 'problem' }>,
  lost: Lost | null,
  about: About | null,
  spelled: string,
  ui: Ui,
): PageHead {
  const address = page.kind === 'mount' ? page.address : page.asked
  const parts = page.kind === 'mount' ? partsOfMount(page, lost, about, ui) : partsOfProblem(page, lost, ui)
  const subject = joined(parts)
  const title = joined([subject, address ? formatAddress(address).slice(1) : spelled, 'Mountglass'])
  const description = page.kind === 'mount' && hasContent(page.content) ? describe(page, about, ui) : undefined
  return { subject, title, ...(description && { description }) }
}

const joined = (parts: readonly (string | undefined | null | false)[]) => parts.filter(Boolean).join(' · ')
const hasContent = ({ kind }: PageContent) => kind !== 'problem' && kind !== 'indexing' && kind !== 'failed'

function partsOfProblem({ error, status, isUnknownView }: Extract<AddressPage, { kind: 'problem' }>, lost: Lost | null, ui: Ui) {
  return [isUnknownView ? ui.t('errorPage.noView') : lost ? wordsOfLost(lost, ui) : titleOfError(error, status, ui)]
}

function wordsOfLost(lost: Lost, { t }: Ui): string {
  return lost.kind === 'present' ? lost.path : t(`lost.titles.${lost.kind}`)
}

function partsOfMount({ content, request, status }: MountPage, lost: Lost | null, about: About | null, ui: Ui) {
  const { t } = ui
  switch (content.kind) {
    case 'problem':
      if (lost?.kind === 'present') return [lost.path]
      return [lost ? wordsOfLost(lost, ui) : titleOfError(content.error, status, ui), request.path ?? viewOf(request.view, ui)]
    case 'indexing':
      return [t('state.indexing'), ...partsOfView(request, about, ui)]
    case 'failed':
      return [t('state.failed'), ...partsOfView(request, about, ui)]
    case 'skill': {
      const { name, directory } = content.page.skill
      return [
        name,
        !(baseNameOf(directory as RepoPath) === name && USUAL_FOLDER.test(directory)) && directory,
        numberOf(request, ui),
      ]
    }
    case 'overview':
      return content.own === null ? partsOfView(request, about, ui) : [content.own.page.skill.name]
    case 'file':
      return [content.page.path]
    default:
      return partsOfView(request, about, ui)
  }
}

function numberOf({ page }: PageRequest, { t }: Ui): string | undefined {
  return typeof page === 'number' && page > 1 ? t('skill.page', { n: page }) : undefined
}

function viewOf(view: View, { t }: Ui): string | undefined {
  return view === 'overview' ? undefined : t(`mount.${view}`)
}

/** Of a view that lists: its name, and before it what of the repository it lists. */
function partsOfView(request: PageRequest, about: About | null, ui: Ui): (string | undefined | null)[] {
  const { t } = ui
  const { view, path, query, from, level } = request
  switch (view) {
    case 'overview':
      return [about?.name]
    case 'findings':
      return [path, level && t(`findings.levels.${level}`), t('findings.title')]
    case 'find':
      return [path, query === undefined ? t('mount.find') : t('search.title', { query })]
    case 'refs':
      return [t('refs.title')]
    case 'changes':
      return [path && nameOf(path), from === undefined ? t('changes.title') : t('changes.titleSince', { from: shortened(from) })]
    case 'browse':
      return [path, t('mount.browse')]
    default:
      return [path, viewOf(view, ui)]
  }
}

/** A skill is named by its folder. */
const nameOf = (path: string) => (isSkillPath(path) ? parentOf(path as RepoPath) || path : path)
const shortened = (ref: string) => (isCommitSha(ref) ? ref.slice(0, 7) : ref)

function describe(page: MountPage, about: About | null, ui: Ui): string | undefined {
  const { t } = ui
  const { content, request, address, mount } = page
  const of = { address: formatAddress(address).slice(1) }
  switch (content.kind) {
    case 'skill':
      return content.page.skill.description || describeAddress(mount, about, of, ui)
    case 'file':
      return t('mount.abouts.file', { ...of, path: content.page.path })
    case 'findings': {
      const { look, breaks, style } = content.view.counts
      const n = look + breaks + style
      return n === 0 ? t('findings.none') : t('mount.abouts.findings', { ...of, findings: t('counts.finding', { n }) })
    }
    case 'browse':
      return t('mount.abouts.browse', of)
    case 'find':
      return t('mount.abouts.find', of)
    case 'refs':
      return t('mount.abouts.refs', of)
    case 'overview':
      return content.own?.page.skill.description || describeAddress(mount, about, of, ui)
    default:
      return request.from === undefined
        ? t('mount.abouts.changes', of)
        : t('mount.abouts.changesSince', { ...of, from: shortened(request.from) })
  }
}

/** What an address is, else what agents read from it. */
function describeAddress(
  { index }: MountPage['mount'],
  about: About | null,
  of: { address: string },
  { t, join }: Ui,
): string | undefined {
  if (about?.description) return about.description
  if (index.status !== 'ready') return undefined
  const { skills, documents } = index.counts
  const counted = [skills > 0 && t('counts.skill', { n: skills }), documents > 0 && t('counts.document', { n: documents })]
  const counts = counted.filter(words => words !== false)
  return counts.length === 0 ? t('mount.abouts.browse', of) : t('mount.about', { ...of, counts: join(counts, 'conjunction') })
}
