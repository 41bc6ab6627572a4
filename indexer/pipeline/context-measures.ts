import { createHash } from 'node:crypto'
import { createYielder } from '#core/concurrency/yielding.ts'
import { estimateTokens } from '#core/estimate-tokens.ts'
import { INCLUDE_FILE_BYTES } from '#core/limits.ts'
import { countPages } from '#core/skill-pages.ts'
import { type DeliveredFacts, type DeliveredText, textKey } from '#core/snapshot/delivered.ts'
import { decodeText, encodeText, utf8Length } from '#core/text.ts'
import { type CodePlace, codePlaceOf } from '../rules/commands.ts'
import type { ContextMeasures } from '../rules/content-facts.ts'
import type { Includes, ManifestChain } from '../rules/includes.ts'
import type { Manifest } from '../rules/manifest.ts'
import type { PlannedSkill } from '../rules/plan.ts'
import { ruleChain } from '../rules/rule-chain.ts'
import { factsOfText } from '../rules/text-facts.ts'
import type { TreeFile } from '../rules/tree.ts'
import type { BlobReader } from '../snapshot/repository-tree.ts'

interface MeasuredParts {
  chainOf: ManifestChain
  includesOf: (planned: PlannedSkill) => Includes
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
  { chainOf, includesOf }: MeasuredParts,
  signal: AbortSignal | undefined,
): Promise<MeasuredContexts> {
  const measures = new Map<PlannedSkill, ContextMeasures>()
  const textFacts = new Map<string, DeliveredFacts>()
  const known = new Map<string, MeasuredText>()
  // Many skills share rules and includes: each is measured once.
  const measureOnce = (kind: 'rules' | 'includes', skillText: SkillText): MeasuredText => {
    const { path, text, place, linesBefore } = skillText
    const key = textKey(kind, path)
    const found = known.get(key)
    if (found) return found
    const measured = measureText(skillText)
    known.set(key, measured)
    textFacts.set(key, factsOfText(text, place, linesBefore))
    return measured
  }
  const yieldIfDue = createYielder(signal)
  for (const planned of skills) {
    await yieldIfDue()
    if (!planned.full) continue
    const { body, directory, linesBeforeBody } = planned.skill
    const { rules, diagnostics } = ruleChain(chainOf(directory))
    const { files, failures } = includesOf(planned)
    const isComplete = diagnostics.length === 0 && failures.length === 0
    const ofRules = rules.map(rulesText)
    const ofBody: SkillText = { path: planned.skill.path, text: body, place: 'markup', linesBefore: linesBeforeBody }
    const included = await readIncludes(blobs, files)
    const texts = [...ofRules, ofBody, ...included]
    const { sha256, bytes } = digest(texts)
    const measured = {
      rules: ofRules.map(text => measureOnce('rules', text)),
      body: measureText(ofBody),
      includes: included.map(text => measureOnce('includes', text)),
    }
    const all = [...measured.rules, measured.body, ...measured.includes]
    measures.set(planned, {
      sha256: isComplete ? sha256 : null,
      rules: measured.rules.map(({ tokens }) => tokens),
      body: measured.body.tokens,
      includes: measured.includes.map(({ tokens }) => tokens),
      budget: {
        bytes,
        tokens: all.reduce((sum, { tokens }) => sum + tokens, 0),
        pages: countPages(texts.map(({ text }) => text)),
      },
      texts: all.map(({ delivered }) => delivered),
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

interface MeasuredText {
  delivered: DeliveredText
  /** Estimated. */
  tokens: number
}

function measureText({ path, text }: SkillText): MeasuredText {
  return {
    delivered: [path, createHash('sha256').update(text).digest('hex'), utf8Length(text)],
    tokens: estimateTokens(text),
  }
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
