import { formatAddress, HOST_NAMES, parseAddress } from '#core/address.ts'
import { changedParts, groupAlike } from '#core/change-groups.ts'
import { listOf, partsLine } from '#core/change-words.ts'
import { printable } from '#core/hidden-text.ts'
import { withoutTrailing } from '#core/text.ts'
import { type Entry, entryLines, fold, type Paint, type Span, signedLines } from '#indexer/check/fold.ts'
import { formatNumber, t } from '#words/t.ts'
import { type ChangedSkill, isSameAddress, type Verdict } from './compare-pins.ts'
import type { PinnedAddress } from './lock-file.ts'

/** How a report is written for people. */
interface Written {
  paint: Paint
  /** Columns of a line. */
  width: number
}

/**
 * The verdicts as lines for people, with the hidden characters of repositories marked.
 *
 * @param service base URL of the deployment that was asked: its pages show what changed
 */
export function formatVerdicts(verdicts: readonly Verdict[], written: Written, service?: string): string[] {
  return [...runsOf(verdicts).flatMap(run => runLines(run, written, service)), '', ...summary(verdicts, written)]
}

/** Neighbours that are one line each, so that they stand in columns; an address that is different stands alone. */
function runsOf(verdicts: readonly Verdict[]): Verdict[][] {
  const runs: Verdict[][] = []
  for (const verdict of verdicts) {
    const last = runs.at(-1)
    if (last === undefined || verdict.status === 'different' || last[0]?.status === 'different') runs.push([verdict])
    else last.push(verdict)
  }
  return runs
}

function runLines(run: readonly Verdict[], written: Written, service: string | undefined): string[] {
  return [
    ...entryLines(run.map(entryOf), { ...written, indent: 0 }),
    ...run.flatMap(verdict => (verdict.status === 'different' ? detailLines(verdict, written, service) : [])),
  ]
}

function entryOf(verdict: Verdict): Entry {
  const place = { text: printable(verdict.address), style: 'bold' } as const
  switch (verdict.status) {
    case 'same': {
      const same = t('verify.same', { skills: t('counts.skill', { n: verdict.skills }), commit: short(verdict.commit) })
      return { sign: { text: '✓', style: 'green' }, place, said: [{ text: same }] }
    }
    case 'gone':
    case 'unverified': {
      const sign: Span = verdict.status === 'gone' ? { text: '-', style: 'red' } : { text: '?', style: 'yellow' }
      const why = t(`verify.${verdict.status}`, { message: printable(verdict.error.message) })
      return { sign, place, said: [{ text: `${why} [${verdict.error.code}]` }] }
    }
    case 'different':
      return { sign: { text: '~', style: 'yellow' }, place, said: [] }
  }
}

type Different = Extract<Verdict, { status: 'different' }>

function detailLines(verdict: Different, written: Written, service: string | undefined): string[] {
  const { renamedTo, commit, skills, unknown } = verdict
  const isSameCommit = commit.before === commit.after
  const line = (text: string) => fold([{ text }], { ...written, indent: 4 })
  const notInIndex = unknown.map(
    (path): Entry => ({
      sign: { text: '?', style: 'yellow' },
      place: { text: printable(path) },
      said: [{ text: t('verify.notInIndex') }],
    }),
  )
  return [
    ...(renamedTo === undefined ? [] : line(t('verify.renamed', { address: printable(renamedTo) }))),
    ...line(
      isSameCommit
        ? t('verify.readDifferently', { commit: short(commit.after) })
        : t(skills.length === 0 ? 'verify.movedOnly' : 'verify.moved', commit),
    ),
    ...entryLines([...skillEntries(skills), ...notInIndex], { ...written, indent: 4 }),
    ...(service === undefined || isSameCommit ? [] : line(t('verify.see', { url: changesPage(service, verdict) }))),
  ]
}

/** Where a deployment shows what agents read differently since the pin. */
function changesPage(service: string, { address, commit }: Different): string {
  return `${withoutTrailing(service, /\//)}${pinnedAddress({ address, commit: commit.after })}?view=changes&from=${commit.before}`
}

const SIGNS = { added: ['green', '+'], changed: ['yellow', '~'], moved: ['yellow', '→'], gone: ['red', '-'] } as const

/** A rule may change every skill below it: skills that differ alike are one entry, in the place of the first. */
function skillEntries(skills: readonly ChangedSkill[]): Entry[] {
  return groupAlike(skills.map(toldSkill)).map(entryOfGroup)
}

/** A skill as `groupAlike` takes it. */
function toldSkill(skill: ChangedSkill) {
  const { before, after } = skill.delivery
  const opensOrCloses = before !== after && [before, after].includes('described')
  const facts = { delivery: skill.delivery, ...(opensOrCloses && { serving: after }) }
  return { ...skill, kind: 'skill' as const, facts }
}

type ToldSkill = ReturnType<typeof toldSkill>

function entryOfGroup(group: readonly ToldSkill[]): Entry {
  const [skill] = group as readonly [ToldSkill]
  const [style, sign] = SIGNS[skill.change]
  const entry = { sign: { text: sign, style }, said: [{ text: whatOf(skill) }] }
  if (group.length === 1) return { ...entry, place: { text: printable(skill.path) } }
  const paths = listOf(group.map(({ path }) => printable(path)))
  return { ...entry, place: { text: t('counts.skill', { n: group.length }) }, below: [{ text: paths, style: 'dim' }] }
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

function summary(verdicts: readonly Verdict[], written: Written): string[] {
  const counts = Map.groupBy(verdicts, verdict => verdict.status)
  const told = (['different', 'gone', 'unverified', 'same'] as const).flatMap(status => {
    const count = counts.get(status)?.length ?? 0
    return count === 0 ? [] : [t(`verify.statuses.${status}`, { n: formatNumber(count) })]
  })
  const addresses = t('counts.address', { n: verdicts.length })
  const text = `${addresses}${told.length === 0 ? '' : `: ${told.join(', ')}`}`
  return fold([{ text, style: 'bold' }], { ...written, indent: 0 })
}

/**
 * An address that was pinned, as lines for people.
 *
 * @param asked the canonical address that was asked for
 */
export function formatPin(pin: PinnedAddress, asked: string, written: Written): string[] {
  const { address, commit, skills, partial } = pin
  const described = skills.filter(skill => skill.delivery === 'described').length
  const incomplete = skills.filter(skill => skill.delivery === 'incomplete').length
  const files = skills.reduce((sum, skill) => sum + skill.files.length, 0)
  const renamed = isSameAddress(withoutRef(address), withoutRef(asked))
    ? []
    : [{ text: t('pin.otherName', { asked: printable(asked) }) }]
  const counted = { skills: t('counts.skill', { n: skills.length }), files: t('counts.file', { n: files }) }
  const warnings = [
    ...(described === 0 ? [] : [t('pin.described', { skills: t('counts.skill', { n: described }) })]),
    ...(incomplete === 0 ? [] : [t('pin.incomplete', { skills: t('counts.skill', { n: incomplete }) })]),
    ...(skills.length === 0 ? [t('pin.noSkills')] : []),
    ...(partial ? [t('pin.partial')] : []),
  ]
  return [
    ...fold([{ text: printable(address), style: 'bold' }, ...renamed], { ...written, indent: 0 }),
    ...fold([{ text: t('pin.content', { ...counted, commit }) }], { ...written, indent: 4 }),
    ...fold([{ text: t('pin.stays', { address: pinnedAddress(pin) }) }], { ...written, indent: 4 }),
    ...warnings.flatMap(text => signedLines({ text: '!' }, [{ text }], { ...written, indent: 4 })),
  ]
}

/** The address with its commit in place of its ref. */
export function pinnedAddress({ address, commit }: Pick<PinnedAddress, 'address' | 'commit'>): string {
  return formatAddress({ ...parseAddress(address, Object.keys(HOST_NAMES)), ref: commit })
}

function short(hash: string): string {
  return hash.slice(0, 12)
}

/** The ref of an answer is longer where the beginning of a hash was asked for. */
function withoutRef(address: string): string {
  return address.replace(/@[^/]*/, '')
}
