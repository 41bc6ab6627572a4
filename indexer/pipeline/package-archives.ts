import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { READABLE_FILE_BYTES } from '#core/limits.ts'
import { ancestorsOf, type RepoPath } from '#core/repo-path.ts'
import { packageEntries, packageName } from '#core/skill-package.ts'
import type { PackageRow } from '#core/snapshot/format.ts'
import { ArchiveWriter } from '#core/tar-archive.ts'
import { isLfsPointer } from '#core/text.ts'
import { reason } from '#words/findings.ts'
import type { Said } from '#words/t.ts'
import type { PackagePlan, PackagePlans } from '../rules/packages.ts'
import type { PlannedSkill } from '../rules/plan.ts'
import type { TreeFile } from '../rules/tree.ts'
import type { BlobReader } from '../snapshot/repository-tree.ts'

/** Digests the archives of skills while their files are read. The archives themselves are made when a client asks for them. */
export class PackageArchives {
  readonly #archives: ReadonlyMap<RepoPath, PackageDigest>
  readonly #refusals: ReadonlyMap<PlannedSkill, Said>

  constructor({ plans, refusals }: PackagePlans) {
    this.#archives = new Map(plans.map(plan => [plan.planned.skill.directory, new PackageDigest(plan)]))
    this.#refusals = refusals
  }

  /** Whether a package has the file. */
  has(path: RepoPath): boolean {
    return this.#archivesWith(path).length > 0
  }

  /** Takes the bytes of the next file. Files come in byte order of their paths. */
  add(file: TreeFile, bytes: Uint8Array): void {
    for (const archive of this.#archivesWith(file.path)) archive.add(file, bytes)
  }

  /** The row of every listed skill that is served in full. @param isText whether a blob was read and is text */
  async rows(blobs: BlobReader, isText: (oid: string) => boolean): Promise<ReadonlyMap<PlannedSkill, PackageRow>> {
    const rows = new Map<PlannedSkill, PackageRow>([...this.#refusals].map(([planned, refusal]) => [planned, { refusal }]))
    const read = createReader(blobs)
    for (const archive of this.#archives.values()) rows.set(archive.planned, await archive.finish(read, isText))
    return rows
  }

  #archivesWith(path: RepoPath): PackageDigest[] {
    if (this.#archives.size === 0) return []
    return ancestorsOf(path).flatMap(folder => this.#archives.get(folder) ?? [])
  }
}

/** The archive of one skill, of which only the digest is kept. */
class PackageDigest {
  readonly #plan: PackagePlan
  readonly #hash = createHash('sha256')
  readonly #writer: ArchiveWriter
  #sizeBytes = 0
  #added = 0
  #hasPointer = false

  constructor(plan: PackagePlan) {
    this.#plan = plan
    this.#writer = new ArchiveWriter(crc32, bytes => {
      this.#hash.update(bytes)
      this.#sizeBytes += bytes.length
    })
  }

  get planned(): PlannedSkill {
    return this.#plan.planned
  }

  add(file: TreeFile, bytes: Uint8Array): void {
    this.#added++
    this.#hasPointer ||= isLfsPointer(Buffer.from(bytes.subarray(0, POINTER_BYTES)).toString('latin1'))
    this.#write(packageName(this.planned.skill.directory, file.path), file, bytes)
  }

  async finish(read: (oid: string) => Promise<Uint8Array | null>, isText: (oid: string) => boolean): Promise<PackageRow> {
    const { packageFrontMatter, directory } = this.planned.skill
    const { files, excluded } = this.#plan
    if ('refusal' in packageFrontMatter || this.#added !== files.length) return UNREADABLE
    if (this.#hasPointer) return { refusal: reason('keptInLfs') }
    const notices = this.#plan.notices.filter(file => isText(file.oid))
    const entries = packageEntries({ directory, files: [], notices: notices.map(file => file.path) })
    for (const [index, { name }] of entries.entries()) {
      const source = notices[index] as TreeFile
      const bytes = await read(source.oid)
      if (bytes === null) return UNREADABLE
      this.#write(name, source, bytes)
    }
    this.#writer.end()
    return {
      frontMatter: packageFrontMatter.fields,
      archive: { sha256: this.#hash.digest('hex'), sizeBytes: this.#sizeBytes },
      ...(notices.length > 0 ? { notices: notices.map(file => file.path) } : {}),
      ...(excluded > 0 ? { excluded } : {}),
      ...(packageFrontMatter.mcpRefusal === null ? {} : { mcpRefusal: packageFrontMatter.mcpRefusal }),
    }
  }

  #write(name: string, { mode }: TreeFile, bytes: Uint8Array): void {
    this.#writer.add({ name, sizeBytes: bytes.length, isExecutable: mode === '100755' }, bytes)
  }
}

/** A pointer of Git LFS is shorter. */
const POINTER_BYTES = 201
const UNREADABLE: PackageRow = { refusal: reason('fileUnreadable') }

/** Reads single blobs, and keeps the last ones: the license of a repository is that of most of its skills. */
function createReader(blobs: BlobReader): (oid: string) => Promise<Uint8Array | null> {
  const kept = new Map<string, Uint8Array | null>()
  return async oid => {
    const known = kept.get(oid)
    if (known !== undefined) return known
    let found: Uint8Array | null = null
    for await (const { bytes } of blobs.read([oid], READABLE_FILE_BYTES)) found = bytes
    if (kept.size >= KEPT_BLOBS) kept.clear()
    kept.set(oid, found)
    return found
  }
}

const KEPT_BLOBS = 8
