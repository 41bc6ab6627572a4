import { formatAddress, HOST_NAMES, parseAddress } from '#core/address.ts'
import { printable } from '#core/hidden-text.ts'
import { withoutTrailing } from '#core/text.ts'
import { messageIn } from '#core/words/sentence.ts'
import { fill, type Speech } from '#core/words/speech.ts'
import { type ChangedFile, type ChangedSkill, isSameAddress } from './compare-pins.ts'
import type { PinnedAddress } from './lock-file.ts'
import type { Verdict } from './verdict.ts'

export type Paint = (style: 'bold' | 'dim' | 'red' | 'yellow' | 'green', text: string) => string

/** How a report is written for people. */
interface Written {
  paint: Paint
  speech: Speech
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
  const { paint, speech } = written
  const { verify: say, counts } = speech.words
  const address = paint('bold', printable(verdict.address))
  switch (verdict.status) {
    case 'same': {
      const same = fill(say.same, { skills: speech.count(verdict.skills, counts.skill), commit: short(verdict.commit) })
      return [`${paint('green', '✓')} ${address}  ${same}`]
    }
    case 'gone':
    case 'unverified': {
      const sign = verdict.status === 'gone' ? paint('red', '-') : paint('yellow', '?')
      const why = fill(say[verdict.status], { message: printable(messageIn(verdict.error, speech)) })
      return [`${sign} ${address}  ${why} [${verdict.error.code}]`]
    }
    case 'different': {
      const { renamedTo, commit, skills, unknown } = verdict
      const isSameCommit = commit.before === commit.after
      return [
        `${paint('yellow', '~')} ${address}`,
        ...(renamedTo === undefined ? [] : [`    ${fill(say.renamed, { address: printable(renamedTo) })}`]),
        isSameCommit
          ? `    ${fill(say.readDifferently, { commit: short(commit.after) })}`
          : `    ${fill(skills.length === 0 ? say.movedOnly : say.moved, commit)}`,
        ...skillLines(skills, written),
        ...unknown.map(path => `    ${paint('yellow', '?')} ${printable(path)}  ${say.notInIndex}`),
        ...(service === undefined || isSameCommit ? [] : [`    ${fill(say.see, { url: changesPage(service, verdict) })}`]),
      ]
    }
  }
}

/** Where a deployment shows what agents read differently since the pin. */
function changesPage(service: string, { address, commit }: Extract<Verdict, { status: 'different' }>): string {
  return `${withoutTrailing(service, /\//)}${pinnedAddress({ address, commit: commit.after })}?view=changes&from=${commit.before}`
}

const SIGNS = { added: ['green', '+'], changed: ['yellow', '~'], moved: ['yellow', '→'], gone: ['red', '-'] } as const

/** Fewer skills that a rule or an included file changes have a line each. */
const GROUP_FROM = 4
/** Skills of a group that are named. */
const NAMED = 3

/** A rule may change every skill below it: those that it changes, and nothing else does, are one line, in the place of the first. */
function skillLines(skills: readonly ChangedSkill[], written: Written): string[] {
  const { paint, speech } = written
  const { verify: say, counts, check } = speech.words
  const alike = skills.filter(isChangedElsewhere)
  if (alike.length < GROUP_FROM) return skills.map(skill => skillLine(skill, written))
  const shown = alike.slice(0, NAMED).map(({ path }) => printable(path))
  const names = fill(check.andMore, { names: shown.join(', '), n: speech.number(alike.length - NAMED) })
  const group = `    ${paint('yellow', '~')} ${speech.count(alike.length, counts.skill)}  ${fill(say.theirRules, { names })}`
  return skills.flatMap(skill => {
    if (!isChangedElsewhere(skill)) return [skillLine(skill, written)]
    return skill === alike[0] ? [group] : []
  })
}

/** Only its rules or included files changed. */
function isChangedElsewhere({ change, delivery, files }: ChangedSkill): boolean {
  return change === 'changed' && delivery.before === delivery.after && files.length === 0
}

function skillLine(skill: ChangedSkill, { paint, speech }: Written): string {
  const [style, sign] = SIGNS[skill.change]
  const { verify: say } = speech.words
  const moved = fill(say.movedSkill, { path: printable(skill.movedFrom ?? '') })
  const what = {
    added: () => say.added,
    gone: () => say.removed,
    changed: () => changesOf(skill, say).join('; '),
    moved: () => [moved, ...changesOf(skill, say)].join('; '),
  }[skill.change]()
  return `    ${paint(style, sign)} ${printable(skill.path)}  ${what}`
}

function changesOf({ path, sha256, delivery, files }: ChangedSkill, say: Speech['words']['verify']): string[] {
  const deliveries = `${say.deliveries[delivery.before]} → ${say.deliveries[delivery.after]}`
  // Of a skill that is described only no file is delivered.
  if (delivery.before !== delivery.after && Object.values(delivery).includes('described')) return [deliveries]
  const supporting = files.filter(file => file.path !== path)
  const isSameText = sha256.before === sha256.after
  const isSameFile = supporting.length === files.length
  return [
    ...(delivery.before === delivery.after ? [] : [deliveries]),
    ...(isSameFile ? [] : [isSameText ? say.frontMatter : say.own]),
    ...(isSameFile && !isSameText ? [say.rules] : []),
    ...(supporting.length === 0 ? [] : [fill(say.files, { names: supporting.map(file => fileWord(path, file)).join(', ') })]),
  ]
}

/** The path relative to the folder of the skill, with its sign. */
function fileWord(skillPath: string, { path, change }: ChangedFile): string {
  const folder = skillPath.slice(0, skillPath.lastIndexOf('/') + 1)
  return `${SIGNS[change][1]} ${printable(path.startsWith(folder) ? path.slice(folder.length) : path)}`
}

function summary(verdicts: readonly Verdict[], { paint, speech }: Written): string {
  const counts = Map.groupBy(verdicts, verdict => verdict.status)
  const told = (['different', 'gone', 'unverified', 'same'] as const).flatMap(status => {
    const count = counts.get(status)?.length ?? 0
    return count === 0 ? [] : [fill(speech.words.verify.statuses[status], { n: speech.number(count) })]
  })
  const addresses = speech.count(verdicts.length, speech.words.counts.address)
  return paint('bold', `${addresses}${told.length === 0 ? '' : `: ${told.join(', ')}`}`)
}

/**
 * An address that was pinned, as lines for people.
 *
 * @param asked the canonical address that was asked for
 */
export function formatPin(pin: PinnedAddress, asked: string, { paint, speech }: Written): string[] {
  const { words, count } = speech
  const { pin: say, counts } = words
  const { address, commit, skills, partial } = pin
  const described = skills.filter(skill => skill.delivery === 'described').length
  const incomplete = skills.filter(skill => skill.delivery === 'incomplete').length
  const files = skills.reduce((sum, skill) => sum + skill.files.length, 0)
  const renamed = isSameAddress(address, asked) ? '' : `  ${fill(say.otherName, { asked: printable(asked) })}`
  return [
    `${paint('bold', printable(address))}${renamed}`,
    `    ${fill(say.content, { skills: count(skills.length, counts.skill), files: count(files, counts.file), commit })}`,
    `    ${fill(say.stays, { address: pinnedAddress(pin) })}`,
    ...(described === 0 ? [] : [`    ! ${fill(say.described, { skills: count(described, counts.skill) })}`]),
    ...(incomplete === 0 ? [] : [`    ! ${fill(say.incomplete, { skills: count(incomplete, counts.skill) })}`]),
    ...(skills.length === 0 ? [`    ! ${say.noSkills}`] : []),
    ...(partial ? [`    ! ${say.partial}`] : []),
  ]
}

/** The address with its commit in place of its ref. */
export function pinnedAddress({ address, commit }: Pick<PinnedAddress, 'address' | 'commit'>): string {
  return formatAddress({ ...parseAddress(address, Object.keys(HOST_NAMES)), ref: commit })
}

function short(hash: string): string {
  return hash.slice(0, 12)
}
