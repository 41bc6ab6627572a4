import { formatAddress, HOST_NAMES, parseAddress } from '#core/address.ts'
import { printable } from '#core/hidden-text.ts'
import { withoutTrailing } from '#core/text.ts'
import { type ChangedFile, type ChangedSkill, isSameAddress } from './compare-pins.ts'
import type { PinnedAddress } from './lock-file.ts'
import type { Verdict } from './verdict.ts'

export type Paint = (style: 'bold' | 'dim' | 'red' | 'yellow' | 'green', text: string) => string

/**
 * The verdicts as lines for people, with the invisible characters of repositories marked.
 *
 * @param service base URL of the deployment that was asked: its pages show what changed
 */
export function formatVerdicts(verdicts: readonly Verdict[], paint: Paint, service?: string): string[] {
  return [...verdicts.flatMap(verdict => verdictLines(verdict, paint, service)), '', summary(verdicts, paint)]
}

function verdictLines(verdict: Verdict, paint: Paint, service: string | undefined): string[] {
  const address = paint('bold', printable(verdict.address))
  switch (verdict.status) {
    case 'same':
      return [`${paint('green', '✓')} ${address}  same: ${plural(verdict.skills, 'skill')} at ${short(verdict.commit)}`]
    case 'gone':
      return [`${paint('red', '-')} ${address}  gone: ${printable(verdict.error.message)} [${verdict.error.code}]`]
    case 'unverified':
      return [`${paint('yellow', '?')} ${address}  not verified: ${printable(verdict.error.message)} [${verdict.error.code}]`]
    case 'different': {
      const { renamedTo, commit, skills, unknown } = verdict
      const moved = commit.before === commit.after
      return [
        `${paint('yellow', '~')} ${address}`,
        ...(renamedTo === undefined ? [] : [`    renamed: the host answers as ${printable(renamedTo)}`]),
        moved
          ? `    commit ${short(commit.after)}, which is read differently now`
          : `    moved from ${commit.before} to ${commit.after}${skills.length === 0 ? '; no skill changed' : ''}`,
        ...skills.map(skill => skillLine(skill, paint)),
        ...unknown.map(path => `    ${paint('yellow', '?')} ${printable(path)}  not in the index, which is partial`),
        ...(service === undefined || moved ? [] : [`    see ${changesPage(service, verdict)}`]),
      ]
    }
  }
}

/** Where a deployment shows what agents read differently since the pin. */
function changesPage(service: string, { address, commit }: Extract<Verdict, { status: 'different' }>): string {
  return `${withoutTrailing(service, /\//)}${pinnedAddress({ address, commit: commit.after })}?view=changes&from=${commit.before}`
}

const SIGNS = { added: ['green', '+'], changed: ['yellow', '~'], gone: ['red', '-'] } as const

function skillLine(skill: ChangedSkill, paint: Paint): string {
  const [style, sign] = SIGNS[skill.change]
  const what = { added: 'new', gone: 'gone', changed: changesOf(skill) }[skill.change]
  return `    ${paint(style, sign)} ${printable(skill.path)}  ${what}`
}

function changesOf({ path, sha256, delivery, files }: ChangedSkill): string {
  const supporting = files.filter(file => file.path !== path)
  const hasOtherText = sha256.before !== sha256.after && sha256.before !== null && sha256.after !== null
  const parts = [
    ...(delivery.before === delivery.after ? [] : [`${DELIVERIES[delivery.before]} → ${DELIVERIES[delivery.after]}`]),
    ...(hasOtherText ? [`text ${short(sha256.before)} → ${short(sha256.after)}`] : []),
    ...(!hasOtherText && supporting.length < files.length ? ['SKILL.md'] : []),
    ...(supporting.length === 0 ? [] : [`files: ${supporting.map(file => fileWord(path, file)).join(', ')}`]),
  ]
  return parts.join('; ')
}

const DELIVERIES = { full: 'in full', described: 'described only', incomplete: 'incomplete', absent: 'absent' } as const

/** The path relative to the folder of the skill, with its sign. */
function fileWord(skillPath: string, { path, change }: ChangedFile): string {
  const folder = skillPath.slice(0, skillPath.lastIndexOf('/') + 1)
  return `${SIGNS[change][1]} ${printable(path.startsWith(folder) ? path.slice(folder.length) : path)}`
}

function summary(verdicts: readonly Verdict[], paint: Paint): string {
  const counts = Map.groupBy(verdicts, verdict => verdict.status)
  const told = (['different', 'gone', 'unverified', 'same'] as const).flatMap(status => {
    const count = counts.get(status)?.length ?? 0
    return count === 0 ? [] : [`${count} ${status === 'unverified' ? 'not verified' : status}`]
  })
  return paint('bold', `${plural(verdicts.length, 'address', 'addresses')}${told.length === 0 ? '' : `: ${told.join(', ')}`}`)
}

/**
 * An address that was pinned, as lines for people.
 *
 * @param asked the canonical address that was asked for
 */
export function formatPin(pin: PinnedAddress, asked: string, paint: Paint): string[] {
  const { address, commit, skills, partial } = pin
  const described = skills.filter(skill => skill.delivery === 'described').length
  const incomplete = skills.filter(skill => skill.delivery === 'incomplete').length
  const files = skills.reduce((sum, skill) => sum + skill.files.length, 0)
  const renamed = isSameAddress(address, asked) ? '' : `  (the host answers ${printable(asked)} under this name)`
  return [
    `${paint('bold', printable(address))}${renamed}`,
    `    ${plural(skills.length, 'skill')}, ${plural(files, 'file')} at ${commit}`,
    `    agents that read ${pinnedAddress(pin)} stay at this commit`,
    ...(described === 0
      ? []
      : [`    ! ${plural(described, 'skill')} described only: no license permits a copy, so there is no digest`]),
    ...(incomplete === 0
      ? []
      : [`    ! ${plural(incomplete, 'skill')} incomplete: required content is missing, so there is no digest`]),
    ...(skills.length === 0 ? ['    ! no skills here: only the commit is pinned'] : []),
    ...(partial ? ['    ! the index is partial, because a limit was reached: other skills are not pinned'] : []),
  ]
}

/** The address with its commit in place of its ref. */
export function pinnedAddress({ address, commit }: Pick<PinnedAddress, 'address' | 'commit'>): string {
  return formatAddress({ ...parseAddress(address, Object.keys(HOST_NAMES)), ref: commit })
}

function short(hash: string | null): string {
  return hash === null ? 'none' : hash.slice(0, 12)
}

function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : nouns}`
}
