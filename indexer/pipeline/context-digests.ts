import { createHash } from 'node:crypto'
import { createTurns } from '#core/concurrency/turns.ts'
import { INCLUDE_FILE_BYTES } from '#core/limits.ts'
import { encodeText } from '#core/text.ts'
import type { BlobReader } from '../reuse/repository-tree.ts'
import type { Includes, ManifestChain } from '../rules/includes.ts'
import type { PlannedSkill } from '../rules/plan.ts'
import { ruleChain } from '../rules/rule-chain.ts'

/**
 * Digests what an agent receives of each skill that is served in full and complete: for each rule, the body and each include, in order of
 * delivery, the bytes of `<path>\n<byte length>\n<text>`. SHA-256 in hexadecimal digits.
 */
export async function digestContexts(
  blobs: BlobReader,
  skills: readonly PlannedSkill[],
  { chainOf, includesOf }: { chainOf: ManifestChain; includesOf: (planned: PlannedSkill) => Includes },
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<PlannedSkill, string>> {
  const digests = new Map<PlannedSkill, string>()
  const turn = createTurns(signal)
  for (const planned of skills) {
    await turn()
    if (!planned.full) continue
    const { path, body, directory } = planned.skill
    const { rules, diagnostics } = ruleChain(chainOf(directory))
    const { files, failures } = includesOf(planned)
    if (diagnostics.length > 0 || failures.length > 0) continue
    const hash = createHash('sha256')
    const add = (partPath: string, bytes: Uint8Array) => hash.update(`${partPath}\n${bytes.length}\n`).update(bytes)
    for (const manifest of rules) add(manifest.path, encodeText(manifest.rules?.text ?? ''))
    add(path, encodeText(body))
    let at = 0
    const oids = files.map(file => file.oid)
    if (oids.length > 0)
      for await (const { bytes } of blobs.read(oids, INCLUDE_FILE_BYTES)) add(files[at++]?.path ?? '', bytes ?? new Uint8Array())
    digests.set(planned, hash.digest('hex'))
  }
  return digests
}
