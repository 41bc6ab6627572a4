import type { RepoPath } from '#core/repo-path.ts'
import type { DeliveredFacts, DeliveredText } from '#core/snapshot/delivered.ts'
import type { Location, RowOf, TableName } from '#core/snapshot/format.ts'
import { compareBytes } from '#core/text.ts'
import type { BlobState } from './content-kind.ts'
import { type TextFacts, titleOfName } from './document.ts'
import type { HiddenFinding } from './hidden-lines.ts'
import type { IncludeFailure, Includes } from './includes.ts'
import type { PlannedSkill } from './plan.ts'
import type { SkillLinks } from './skill-links.ts'
import type { TreeFile } from './tree.ts'

/** What reading the content of a snapshot found. */
export interface Content {
  stateOf(oid: string): BlobState
  /** Where the bytes of a text lie. */
  recordOf(oid: string): Location | null
  /** Where the bytes of a file lie, text or not, and their SHA-256. */
  storedOf(oid: string): { record: Location; sha256: string } | null
  measuresOf(planned: PlannedSkill): ContextMeasures
  /** `null`: a skill that is not listed or not served in full. */
  packageOf(planned: PlannedSkill): RowOf<'packages'> | null
  factsOf(path: RepoPath): TextFacts | null
  /** What a reviewer looks for in a file of a skill. */
  deliveredIn(path: RepoPath): DeliveredFacts
  hiddenIn(path: RepoPath): HiddenFinding[]
  /** Characters of an included file. */
  charactersOf(oid: string): number
  includesOf(planned: PlannedSkill): Includes
  /** What a reviewer looks for in the rules and includes that skills deliver, by `textKey`. */
  readonly textFacts: ReadonlyMap<string, DeliveredFacts>
  /** Of the includes that manifests declare. */
  manifestFailures: readonly IncludeFailure[]
  /** Computed anew for a skill with very many links. */
  linksOf(planned: PlannedSkill): SkillLinks
  /** Files without a role that links lead to or that are included. */
  linked: readonly { file: TreeFile; served: boolean }[]
}

/** What an agent receives of a skill, measured. Tokens are estimates. */
export interface ContextMeasures {
  /** Over each rule, the body and each include, in order of delivery, the bytes of `<path>\n<byte length>\n<text>`; `null` where something is missing. */
  sha256: string | null
  /** Tokens of each rule. */
  rules: readonly number[]
  body: number
  includes: readonly number[]
  /** Of all texts. */
  budget: { bytes: number; tokens: number; pages: number }
  /** Rules, body and includes, one after another. */
  texts: readonly DeliveredText[]
  /** What a reviewer looks for in the body. */
  facts: DeliveredFacts
}

export type Rows<Name extends TableName> = (readonly [key: string, row: RowOf<Name>])[]

/** The title of a file in listings. */
export function titleOf(path: RepoPath, content: Content): string {
  return content.factsOf(path)?.title ?? titleOfName(path)
}

export function sortRows<Row extends readonly [key: string, row: unknown]>(rows: Row[]): Row[] {
  return rows.sort(([left], [right]) => compareBytes(left, right))
}
