import { createHash } from 'node:crypto'
import { createTurns } from '#core/concurrency/turns.ts'
import { INCLUDE_FILE_BYTES } from '#core/limits.ts'
import { countPages } from '#core/skill-pages.ts'
import { type DeliveredFacts, type DeliveredText, textKey } from '#core/snapshot/delivered.ts'
import { decodeText, encodeText, utf8Length } from '#core/text.ts'
import type { BlobReader } from '../reuse/repository-tree.ts'
import { type CodePlace, codePlaceOf } from '../rules/commands.ts'
import type { ContextMeasures } from '../rules/content-facts.ts'
import type { Includes, ManifestChain } from '../rules/includes.ts'
import type { Manifest } from '../rules/manifest.ts'
import type { PlannedSkill } from '../rules/plan.ts'
import { ruleChain } from '../rules/rule-chain.ts'
import { factsOfText } from '../rules/text-facts.ts'
import type { TreeFile } from '../rules/tree.ts'
import type { TokenCounter } from './tokens.ts'

interface MeasuredParts {
  chainOf: ManifestChain
  includesOf: (planned: PlannedSkill) => Includes
  tokens: TokenCounter
}

export interface MeasuredContexts {
  measures: ReadonlyMap<PlannedSkill, ContextMeasures>
  /** What a reviewer looks for in the rules and includes, by `textKey`. */
  textFacts: ReadonlyMap<string, DeliveredFacts>
}

/** Measures what an agent receives of each skill that is served in full. */
export async function measureContexts(
  blobs: BlobReader,
  skills: readonly PlannedSkill[],
  { chainOf, includesOf, tokens }: MeasuredParts,
  signal: AbortSignal | undefined,
): Promise<MeasuredContexts> {
  const measures = new Map<PlannedSkill, ContextMeasures>()
  const textFacts = new Map<string, DeliveredFacts>()
  const digests = new Map<string, DeliveredText>()
  // Many skills share rules and includes: each is looked at once.
  const deliver = (kind: 'rules' | 'includes', { path, text, place, linesBefore }: SkillText): DeliveredText => {
    const key = textKey(kind, path)
    const known = digests.get(key)
    if (known) return known
    const delivered = deliveredText(path, text)
    digests.set(key, delivered)
    textFacts.set(key, factsOfText(text, place, linesBefore))
    return delivered
  }
  const turn = createTurns(signal)
  for (const planned of skills) {
    await turn()
    if (!planned.full) continue
    const { path, body, directory, linesBeforeBody } = planned.skill
    const { rules, diagnostics } = ruleChain(chainOf(directory))
    const { files, failures } = includesOf(planned)
    const isComplete = diagnostics.length === 0 && failures.length === 0
    const ofRules = rules.map(rulesText)
    const included = await readIncludes(blobs, files)
    const texts: SkillText[] = [...ofRules, { path, text: body, place: 'markup', linesBefore: linesBeforeBody }, ...included]
    const counts: number[] = []
    for (const { text } of texts) counts.push(await tokens.count(text))
    const { sha256, bytes } = digest(texts)
    measures.set(planned, {
      sha256: isComplete ? sha256 : null,
      rules: counts.slice(0, rules.length),
      body: counts[rules.length] ?? 0,
      includes: counts.slice(rules.length + 1),
      budget: {
        bytes,
        tokens: counts.reduce((sum, count) => sum + count, 0),
        pages: countPages(texts.map(({ text }) => text)),
      },
      texts: [
        ...ofRules.map(text => deliver('rules', text)),
        deliveredText(path, body),
        ...included.map(text => deliver('includes', text)),
      ],
      facts: factsOfText(body, 'markup', linesBeforeBody),
    })
  }
  return { measures, textFacts }
}

interface SkillText {
  path: string
  text: string
  /** Where its commands stand. */
  place: CodePlace
  /** Lines of the file above it. */
  linesBefore: number
}

function rulesText({ path, rules }: Manifest): SkillText {
  return { path, text: rules?.text ?? '', place: 'markup', linesBefore: rules?.linesBefore ?? 0 }
}

function deliveredText(path: string, text: string): DeliveredText {
  return [path, createHash('sha256').update(text).digest('hex'), utf8Length(text)]
}

async function readIncludes(blobs: BlobReader, files: Includes['files']): Promise<SkillText[]> {
  if (files.length === 0) return []
  const texts: SkillText[] = []
  let at = 0
  const oids = files.map(file => file.oid)
  for await (const { bytes } of blobs.read(oids, INCLUDE_FILE_BYTES)) {
    const { path, mode } = files[at++] as TreeFile
    const text = (bytes && decodeText(bytes)) ?? ''
    texts.push({ path, text, place: codePlaceOf(path, text, mode === '100755'), linesBefore: 0 })
  }
  return texts
}

/** Over each text the bytes of `<path>\n<byte length>\n<text>`, in order of delivery; `bytes`: of the texts alone. */
function digest(texts: readonly SkillText[]): { sha256: string; bytes: number } {
  const hash = createHash('sha256')
  let bytes = 0
  for (const { path, text } of texts) {
    const encoded = encodeText(text)
    bytes += encoded.length
    hash.update(`${path}\n${encoded.length}\n`).update(encoded)
  }
  return { sha256: hash.digest('hex'), bytes }
}
