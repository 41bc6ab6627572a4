import type { ManifestMetadata } from '#core/contract/shared.ts'
import { RULE_CHAIN_BYTES, RULE_CHAIN_MANIFESTS } from '#core/limits.ts'
import { ancestorsOf, joinPath, type RepoPath } from '#core/repo-path.ts'
import type { DiagnosticRow } from '#core/snapshot/finding-rows.ts'
import { utf8Length } from '#core/text.ts'
import { finding } from '#words/findings.ts'
import type { Manifest } from './manifest.ts'

/** The manifests at or above a folder, root first. */
export function manifestsAbove(manifests: ReadonlyMap<RepoPath, Manifest>, folder: RepoPath): Manifest[] {
  return ancestorsOf(joinPath(folder, 'x')).flatMap(ancestor => manifests.get(ancestor) ?? [])
}

/**
 * The manifests whose rules are required reading for a skill, root first. Rules are never cut: beyond the limits of a chain the rest is
 * missing, and the context is incomplete. The diagnostic stands at the first manifest that is left out.
 */
export function ruleChain(chain: readonly Manifest[]): { rules: Manifest[]; diagnostics: DiagnosticRow[] } {
  const rules: Manifest[] = []
  let leftBytes = RULE_CHAIN_BYTES
  for (const manifest of chain) {
    if (manifest.rules === null) continue
    leftBytes -= utf8Length(manifest.rules.text)
    if (leftBytes < 0 || rules.length === RULE_CHAIN_MANIFESTS) {
      const found = finding('rules.missing', { manifestLimit: RULE_CHAIN_MANIFESTS, byteLimit: RULE_CHAIN_BYTES })
      return { rules, diagnostics: [{ ...found, severity: 'error', path: manifest.path }] }
    }
    rules.push(manifest)
  }
  return { rules, diagnostics: [] }
}

/** The metadata of a manifest. Only the language is inherited, from the nearest manifest above that declares one. */
export function manifestMetadata(manifest: Manifest, chain: readonly Manifest[]): ManifestMetadata {
  const { path, name, description, translations } = manifest
  const language = chain.reduce<string | null>((inherited, above) => above.language ?? inherited, null)
  return { path, name, description, language, translations }
}
