import { encodeText } from '#core/text.ts'
import { foldCopies } from '#indexer/rules/copies.ts'
import { createLicenseResolver } from '#indexer/rules/license/index.ts'
import { type Plan, type PlannedSkill, planContent, skillCandidates, skillDirectories } from '#indexer/rules/plan.ts'
import { parseSkill } from '#indexer/rules/skill.ts'
import { buildTree } from '#indexer/rules/tree.ts'
import { applyManifests } from '#indexer/rules/withheld.ts'

/** What a file of a planned repository is: its text; a size alone, `null` for a missing blob, with the blob that it shares; a link. */
export type PlannedContent = string | { sizeBytes: number | null; oid?: string } | { link: string }

/** Plans a repository without git: every rule up to what each file is, with nothing read behind it. */
export function planOf(files: Readonly<Record<string, PlannedContent>>, visibility: 'public' | 'private' = 'public') {
  const texts = new Map(
    Object.entries(files).map(([path, content]) => [
      path,
      typeof content === 'string' ? content : 'link' in content ? content.link : null,
    ]),
  )
  // As in git, files of the same text have the same one.
  const oidOf = (path: string) => texts.get(path) ?? `blob of ${path}`
  const links = Object.values(files).flatMap(content => (typeof content === 'object' && 'link' in content ? [content.link] : []))
  const tree = buildTree(
    Object.entries(files).map(([path, content]) => ({
      path,
      mode: typeof content === 'object' && 'link' in content ? ('120000' as const) : ('100644' as const),
      oid: typeof content === 'object' && 'oid' in content ? (content.oid ?? oidOf(path)) : oidOf(path),
      sizeBytes:
        typeof content === 'object' && 'sizeBytes' in content ? content.sizeBytes : Buffer.byteLength(texts.get(path) ?? ''),
    })),
    new Map(links.map(link => [link, link])),
  )
  const policy = applyManifests(tree, encodeText, 'repository')
  const parsed = skillCandidates(policy).files.map(file => parseSkill(file.path, texts.get(file.path) ?? '', 'repository'))
  const licenses = createLicenseResolver({
    filesIn: folder => tree.folders.get(folder)?.files ?? new Map(),
    textOf: oid => oid,
    skillIn(folder) {
      const skill = parsed.find(({ directory }) => directory === folder)
      if (skill) return { license: skill.frontMatter.license }
      return skillDirectories(policy).has(folder) ? 'unread' : null
    },
    manifestIn(folder) {
      const license = policy.manifests.get(folder)?.license
      return typeof license === 'string' ? { license } : null
    },
    isWithheld: path => policy.reasonOf(path) !== null,
  })
  const plan: Plan = planContent(tree, policy, parsed, licenses, visibility)
  foldCopies(plan, new Set())
  const skill = (path: string): PlannedSkill => {
    const found = plan.skills.find(planned => planned.skill.path === path)
    if (!found) throw new Error(`no skill ${path}`)
    return found
  }
  return { plan, policy, skill }
}
