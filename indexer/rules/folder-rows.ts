import type { FolderOverview } from '#core/contract/browse.ts'
import type { Diagnostic, License, SkillListing } from '#core/contract/shared.ts'
import { MANIFEST_IMAGE_BYTES } from '#core/limits.ts'
import { ancestorsOf, baseNameOf, parentOf, type RepoPath } from '#core/repo-path.ts'
import { type EntryRow, entryKey, type FolderRow } from '#core/snapshot/format.ts'
import { type Content, type Rows, titleOf } from './content-facts.ts'
import { overviewRank } from './content-kind.ts'
import type { Manifest } from './manifest.ts'
import type { Plan } from './plan.ts'
import { resolveDeclaredPath } from './references.ts'
import { manifestMetadata, manifestsAbove } from './rule-chain.ts'
import { isRegular } from './tree.ts'

/** Of a closed folder nothing is told, not even by which file it is licensed. */
const NOTHING_DELIVERED: License = { kind: 'unknown', name: null, source: null }

interface BuiltFolders {
  rows: Map<RepoPath, FolderRow>
  entries: Rows<'entries'>
  diagnostics: Diagnostic[]
}

/** What is known of every folder, and the entries that browsing shows. */
export function buildFolders(plan: Plan, content: Content, listings: ReadonlyMap<RepoPath, SkillListing>): BuiltFolders {
  const { policy } = plan
  const counts = countContent(plan, listings)
  const overviews = chooseOverviews(plan, content)
  const listed = listedFolders(plan, listings, overviews)
  const skillDirectories = new Map([...listings.values()].map(listing => [listing.directory as RepoPath, listing]))
  const owners = new Map(
    plan.skills.filter(planned => planned.skill.directory !== '').map(planned => [planned.skill.directory, planned]),
  )
  const rows = new Map<RepoPath, FolderRow>()
  const entries: Rows<'entries'> = []
  const diagnostics: Diagnostic[] = []

  for (const { path } of policy.folders) {
    const chain = manifestsAbove(policy.manifests, path)
    const nearest = chain.at(-1)
    const overview = overviews.get(path)
    const image = imageOf(chain, plan)
    const owner = owners.get(path) ?? null
    if (image?.invalid && image.manifest.folder === path) diagnostics.push(image.invalid)
    rows.set(path, {
      counts: counts.get(path) ?? { skills: 0, documents: 0 },
      license: policy.withheld.get(path) === 'closed' ? NOTHING_DELIVERED : plan.licenseOf(path, owner).license,
      ...(nearest ? { manifest: nearest.path } : {}),
      ...(image?.image ? { image: image.image } : {}),
      ...(overview ? { overview } : {}),
    })

    if (path === '' || !listed.has(path)) continue
    const own = policy.manifests.get(path)
    const entry: EntryRow = {
      path,
      kind: 'directory',
      counts: counts.get(path) ?? { skills: 0, documents: 0 },
      ...(own && policy.reasonOf(own.path) === null ? { manifest: manifestMetadata(own, chain) } : {}),
      ...(overview ? { overviewPath: overview.path } : {}),
      ...skillFields(skillDirectories.get(path)),
    }
    entries.push([entryKey(parentOf(path), baseNameOf(path)), entry])
  }

  for (const { file, kind, owner } of plan.files) {
    if (kind !== 'skill' && kind !== 'supporting' && kind !== 'document') continue
    if (owner?.skill.internal || file.sizeBytes === null) continue
    const facts = content.factsOf(file.path)
    const title = kind === 'document' ? titleOf(file.path, content) : kind === 'supporting' ? facts?.title : null
    const entry: EntryRow = {
      path: file.path,
      kind: 'file',
      size: file.sizeBytes,
      ...(title ? { title } : {}),
      ...(kind === 'skill' ? skillFields(listings.get(file.path)) : {}),
    }
    entries.push([entryKey(parentOf(file.path), baseNameOf(file.path)), entry])
  }
  return { rows, entries, diagnostics }
}

function skillFields(listing: SkillListing | undefined) {
  if (!listing) return {}
  const { path, name, description, translations, license, describedOnly } = listing
  return { skill: { path, name, description, translations }, license, ...(describedOnly ? { describedOnly } : {}) }
}

function countContent(
  plan: Plan,
  listings: ReadonlyMap<RepoPath, SkillListing>,
): Map<RepoPath, { skills: number; documents: number }> {
  const counts = new Map<RepoPath, { skills: number; documents: number }>()
  for (const { file, kind } of plan.files) {
    const isSkill = kind === 'skill' && listings.has(file.path)
    if (!isSkill && kind !== 'document') continue
    for (const folder of ancestorsOf(file.path)) {
      const count = counts.get(folder) ?? { skills: 0, documents: 0 }
      counts.set(folder, count)
      if (isSkill) count.skills++
      else count.documents++
    }
  }
  return counts
}

// A folder is shown when there is something to see in it, at any depth.
function listedFolders(
  plan: Plan,
  listings: ReadonlyMap<RepoPath, SkillListing>,
  overviews: ReadonlyMap<RepoPath, FolderOverview>,
): Set<RepoPath> {
  const listed = new Set<RepoPath>()
  const add = (folder: RepoPath) => {
    for (let at = folder; !listed.has(at); at = parentOf(at)) listed.add(at)
  }
  for (const { file, kind, owner } of plan.files) {
    const isListed = kind === 'document' || kind === 'manifest' || (owner !== null && listings.has(owner.skill.path))
    if (isListed) add(parentOf(file.path))
  }
  for (const folder of overviews.keys()) add(folder)
  for (const [path, reason] of plan.policy.withheld) if (reason === 'closed') add(path)
  return listed
}

function chooseOverviews(plan: Plan, content: Content): Map<RepoPath, FolderOverview> {
  const best = new Map<RepoPath, { rank: number; path: RepoPath }>()
  for (const { file, kind, owner } of plan.files) {
    if ((kind !== 'overview' && kind !== 'supporting') || owner?.skill.internal) continue
    const rank = overviewRank(baseNameOf(file.path))
    const folder = parentOf(file.path)
    if (rank === null || content.factsOf(file.path) === null || rank >= (best.get(folder)?.rank ?? Infinity)) continue
    best.set(folder, { rank, path: file.path })
  }
  return new Map(
    [...best].map(([folder, { path }]) => {
      const facts = content.factsOf(path)
      return [folder, { path, title: facts?.title ?? null, description: facts?.summary || null }]
    }),
  )
}

interface ManifestImage {
  manifest: Manifest
  image?: NonNullable<FolderRow['image']>
  invalid?: Diagnostic
}

/** The picture of the nearest manifest that declares one; when that one is not valid there is none. */
function imageOf(chain: readonly Manifest[], plan: Plan): ManifestImage | null {
  const manifest = chain.findLast(candidate => candidate.image !== undefined)
  if (manifest?.image === undefined) return null
  const invalid = (code: string, message: string): ManifestImage => ({
    manifest,
    invalid: { code, severity: 'warning', path: manifest.path, field: 'image', message },
  })
  if (/^https:/i.test(manifest.image)) {
    return URL.canParse(manifest.image)
      ? { manifest, image: { url: manifest.image } }
      : invalid('manifest.invalid_field', 'not an address')
  }
  const path = /^[a-z][a-z0-9+.-]*:/i.test(manifest.image) ? null : resolveDeclaredPath(manifest.image, manifest.folder)
  if (path === null || !/\.(?:png|jpe?g|gif|webp|avif)$/i.test(path)) {
    return invalid('manifest.invalid_field', 'neither a PNG, JPEG, GIF, WebP or AVIF of this repository nor an https address')
  }
  const file = plan.tree.file(path)
  if (!file || !isRegular(file) || file.sizeBytes === null || file.sizeBytes > MANIFEST_IMAGE_BYTES) {
    return invalid('manifest.image_missing', `there is no picture of at most ${MANIFEST_IMAGE_BYTES} bytes at its path`)
  }
  return { manifest, image: { path } }
}
