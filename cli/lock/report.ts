import { formatAddress, HOST_NAMES, parseAddress } from '#core/address.ts'
import { changedParts, groupAlike } from '#core/change-groups.ts'
import { listOf, partsLine } from '#core/change-words.ts'
import { printable } from '#core/hidden-text.ts'
import { withoutTrailing } from '#core/text.ts'
import { formatNumber, t } from '#words/t.ts'
import { type ChangedSkill, isSameAddress, type Verdict } from './compare-pins.ts'
import type { PinnedAddress } from './lock-file.ts'

export type Paint = (style: 'bold' | 'dim' | 'red' | 'yellow' | 'green', text: string) => string

/** How a report is written for people. */
interface Written {
  paint: Paint
}

/**
 * The verdicts as lines for people, with the hidden characters of repositories marked.
 *
 * @param service base URL of the deployment that was asked: its pages show what changed
 */
export function formatVerdicts(verdicts: readonly Verdict[], written: Written, service?: string): string[] {
  return [...verdicts.flatMap(verdict => verdictLines(verdict, written, service)), '', summary(verdicts, written)]
}

function verdictLines(verdict: Verdict, written: Written, service: string | undefined): string[] {
  const { paint } = written
  const address = paint('bold', printable(verdict.address))
  switch (verdict.status) {
    case 'same': {
      const same = t('verify.same', { skills: t('counts.skill', { n: verdict.skills }), commit: short(verdict.commit) })
      return [`${paint('green', '✓')} ${address}  ${same}`]
    }
    case 'gone':
    case 'unverified': {
      const sign = verdict.status === 'gone' ? paint('red', '-') : paint('yellow', '?')
      const why = t(`verify.${verdict.status}`, { message: printable(verdict.error.message) })
      return [`${sign} ${address}  ${why} [${verdict.error.code}]`]
    }
    case 'different': {
      const { renamedTo, commit, skills, unknown } = verdict
      const isSameCommit = commit.before === commit.after
      return [
        `${paint('yellow', '~')} ${address}`,
        ...(renamedTo === undefined ? [] : [`    ${t('verify.renamed', { address: printable(renamedTo) })}`]),
        isSameCommit
          ? `    ${t('verify.readDifferently', { commit: short(commit.after) })}`
          : `    ${t(skills.length === 0 ? 'verify.movedOnly' : 'verify.moved', commit)}`,
        ...skillLines(skills, written),
        ...unknown.map(path => `    ${paint('yellow', '?')} ${printable(path)}  ${t('verify.notInIndex')}`),
        ...(service === undefined || isSameCommit ? [] : [`    ${t('verify.see', { url: changesPage(service, verdict) })}`]),
      ]
    }
  }
}

/** Where a deployment shows what agents read differently since the pin. */
function changesPage(service: string, { address, commit }: Extract<Verdict, { status: 'different' }>): string {
  return `${withoutTrailing(service, /\//)}${pinnedAddress({ address, commit: commit.after })}?view=changes&from=${commit.before}`
}

const SIGNS = { added: ['green', '+'], changed: ['yellow', '~'], moved: ['yellow', '→'], gone: ['red', '-'] } as const

/** A rule may change every skill below it: skills that differ alike are one entry, in the place of the first. */
function skillLines(skills: readonly ChangedSkill[], written: Written): string[] {
  return groupAlike(skills.map(toldSkill)).flatMap(group => groupLines(group, written))
}

/** A skill as `groupAlike` takes it. */
function toldSkill(skill: ChangedSkill) {
  const { before, after } = skill.delivery
  const opensOrCloses = before !== after && [before, after].includes('described')
  const facts = { delivery: skill.delivery, ...(opensOrCloses && { serving: after }) }
  return { ...skill, kind: 'skill' as const, facts }
}

type ToldSkill = ReturnType<typeof toldSkill>

function groupLines(group: readonly ToldSkill[], { paint }: Written): string[] {
  const [skill] = group as readonly [ToldSkill]
  const [style, sign] = SIGNS[skill.change]
  const isOne = group.length === 1
  const name = isOne ? printable(skill.path) : t('counts.skill', { n: group.length })
  const paths = group.map(({ path }) => printable(path))
  return [`    ${paint(style, sign)} ${name}  ${whatOf(skill)}`, ...(isOne ? [] : [`        ${paint('dim', listOf(paths))}`])]
}

/** What happened to a skill: how it is delivered now, and each part that changed with the files behind it. */
function whatOf(skill: ToldSkill): string {
  const { change, movedFrom, delivery } = skill
  if (change === 'added') return t('verify.added')
  if (change === 'gone') return t('verify.removed')
  const { before, after } = delivery
  return [
    ...(movedFrom === undefined ? [] : [t('verify.movedSkill', { path: printable(movedFrom) })]),
    ...(before === after ? [] : [`${t(`verify.deliveries.${before}`)} → ${t(`verify.deliveries.${after}`)}`]),
    ...changedParts(skill).map(part => partsLine(part)),
  ].join('; ')
}

function summary(verdicts: readonly Verdict[], { paint }: Written): string {
  const counts = Map.groupBy(verdicts, verdict => verdict.status)
  const told = (['different', 'gone', 'unverified', 'same'] as const).flatMap(status => {
    const count = counts.get(status)?.length ?? 0
    return count === 0 ? [] : [t(`verify.statuses.${status}`, { n: formatNumber(count) })]
  })
  const addresses = t('counts.address', { n: verdicts.length })
  return paint('bold', `${addresses}${told.length === 0 ? '' : `: ${told.join(', ')}`}`)
}

/**
 * An address that was pinned, as lines for people.
 *
 * @param asked the canonical address that was asked for
 */
export function formatPin(pin: PinnedAddress, asked: string, { paint }: Written): string[] {
  const { address, commit, skills, partial } = pin
  const described = skills.filter(skill => skill.delivery === 'described').length
  const incomplete = skills.filter(skill => skill.delivery === 'incomplete').length
  const files = skills.reduce((sum, skill) => sum + skill.files.length, 0)
  const renamed = isSameAddress(address, asked) ? '' : `  ${t('pin.otherName', { asked: printable(asked) })}`
  return [
    `${paint('bold', printable(address))}${renamed}`,
    `    ${t('pin.content', { skills: t('counts.skill', { n: skills.length }), files: t('counts.file', { n: files }), commit })}`,
    `    ${t('pin.stays', { address: pinnedAddress(pin) })}`,
    ...(described === 0 ? [] : [`    ! ${t('pin.described', { skills: t('counts.skill', { n: described }) })}`]),
    ...(incomplete === 0 ? [] : [`    ! ${t('pin.incomplete', { skills: t('counts.skill', { n: incomplete }) })}`]),
    ...(skills.length === 0 ? [`    ! ${t('pin.noSkills')}`] : []),
    ...(partial ? [`    ! ${t('pin.partial')}`] : []),
  ]
}

/** The address with its commit in place of its ref. */
export function pinnedAddress({ address, commit }: Pick<PinnedAddress, 'address' | 'commit'>): string {
  return formatAddress({ ...parseAddress(address, Object.keys(HOST_NAMES)), ref: commit })
}

function short(hash: string): string {
  return hash.slice(0, 12)
}
