import { buildApp } from '#api/app.ts'
import { NO_CONTENT } from '#api/operator/operator-content.ts'
import { createLogRedaction } from '#api/people/log-redaction.ts'
import { deriveKeys } from '#api/purpose-keys.ts'
import { createHiddenNotes } from '#api/snapshot/hidden-notes.ts'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import type { FindAnswer } from '#core/contract/find.ts'
import { FindAnswer as FindAnswerSchema } from '#core/contract/find.ts'
import { createOwnerListings } from '#core/owner-listings.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import type { FolderRow, SkillRow } from '#core/snapshot/format.ts'
import { compareBytes, encodeText } from '#core/text.ts'
import { createSearchBuilder } from '#indexer/search/builder.ts'
import type { SearchFields, SearchInput } from '#indexer/search/input.ts'
import { createSnapshotWriter } from '#indexer/snapshot/snapshot-writer.ts'
import { createMemoryStateStore } from '#infra/memory-stores.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { systemClock } from '#infra/system/system.ts'
import { COMMIT, REPOSITORY } from './store-values.ts'
import { openTestStores } from './test-stores.ts'

/** What find can name, by path. A text is the body of a document; a supporting file belongs to the nearest `SKILL.md` among them. */
export type Searchable = Readonly<Record<string, string | SearchableFile>>

export interface SearchableFile extends SearchFields {
  title?: string
  summary?: string
  describedOnly?: true
}

export interface SearchApp {
  find(query: string, options?: FindOptions): Promise<FoundPage>
  /** Status and body of any address and query string. */
  get(target: string): Promise<{ status: number; body: { error?: { code: string } } }>
  close(): Promise<void>
}

export type FoundPage = Extract<FindAnswer, { status: 'ready' }>

export interface FindOptions {
  /** Mounted folder. */
  mount?: string
  path?: string
  limit?: number
  cursor?: string
}

/** The service over one snapshot that was made from these files alone, served as `/local/acme/handbook`. */
export async function searchApp(files: Searchable): Promise<SearchApp> {
  const stores = await openTestStores(systemClock)
  await writeSearchSnapshot(files, stores.blobs)
  const app = await openSearchApp(stores.blobs)
  return {
    ...app,
    async close() {
      await app.close()
      await stores.close()
    },
  }
}

/** The service over what `writeSearchSnapshot` wrote. It has read nothing yet. */
export async function openSearchApp(blobs: BlobStore): Promise<SearchApp> {
  const states = createMemoryStateStore()
  const queue = createStateQueue(states, systemClock)
  const secret = Buffer.alloc(32, 7).toString('base64url')
  const app = await buildApp(
    {
      hosts: [oneRepositoryHost()],
      snapshots: createSnapshotReader(blobs),
      queue,
      listings: createOwnerListings(states),
      hidden: createHiddenNotes({ blobs, states }, systemClock),
      operator: NO_CONTENT,
      localSource: 'withheld',
      clock: systemClock,
      cursorKeys: deriveKeys([{ kid: 'test', key: secret }], 'cursor'),
      names: createLogRedaction(deriveKeys([{ kid: 'test', key: secret }], 'log')[0]),
      people: null,
      oauth: null,
      allow: null,
      deny: [],
      onOffered: () => {},
      readRawFile: async () => null,
      checkReady: async () => {},
    },
    { baseUrl: 'http://127.0.0.1' },
  )

  async function get(target: string): Promise<{ status: number; body: { error?: { code: string } } }> {
    const answer = await app.inject({ method: 'GET', url: `/api/v1/find/local/acme/handbook${target}` })
    return { status: answer.statusCode, body: answer.json() }
  }

  return {
    async find(query, { mount = '', ...rest } = {}) {
      const parameters = new URLSearchParams({ query })
      for (const [name, value] of Object.entries(rest)) parameters.set(name, String(value))
      const folder = mount === '' ? '' : `/${mount.split('/').map(encodeURIComponent).join('/')}`
      const { body } = await get(`${folder}?${parameters.toString().replaceAll('+', '%20')}`)
      const answer = FindAnswerSchema.parse(body)
      if (answer.status !== 'ready') throw new Error(`find answered ${answer.status}`)
      return answer
    },
    get,
    close: () => app.close(),
  }
}

/** The files as the indexer hands them to the search builder. */
export function searchInputs(files: Searchable): SearchInput[] {
  const paths = Object.keys(files).sort(compareBytes)
  const skills = new Set(paths.filter(path => /(?:^|\/)SKILL\.md$/.test(path)))
  return paths.map(path => {
    const file = files[path] ?? ''
    const { title, summary = '', describedOnly, ...fields } = typeof file === 'string' ? { body: file } : file
    const owner = ownerOf(path, skills)
    const kind = skills.has(path) ? 'skill' : owner === null ? 'document' : 'supporting'
    return { path, kind, owner, title: title ?? fields.name ?? fileTitle(path), summary, text: null, fields }
  })
}

/** Nobody builds on these snapshots. */
const NO_BLOB = '0'.repeat(40)

/** The snapshot of these files alone. */
export async function writeSearchSnapshot(files: Searchable, blobs: BlobStore): Promise<void> {
  const inputs = searchInputs(files)
  const writer = createSnapshotWriter(blobs, REPOSITORY, COMMIT)
  const builder = createSearchBuilder(writer)
  for (const input of inputs) {
    const { body } = input.fields
    const text = body === undefined || input.kind === 'skill' ? null : await writer.addRecord(NO_BLOB, encodeText(body))
    await builder.add({ ...input, text })
  }
  const search = await builder.finish()
  await builder.close()
  await writer.addTable(
    'skills',
    inputs.filter(({ kind }) => kind === 'skill').map(input => [input.path, skillRow(input, files[input.path] ?? '')] as const),
  )
  await writer.addTable(
    'folders',
    foldersOf(inputs).map(folder => [folder, FOLDER] as const),
  )
  const root = { folder: FOLDER, skills: [], documents: [], diagnostics: [] }
  await writer.finish({ truncated: false, search, root })
}

const LICENSE = { kind: 'open', name: 'MIT', source: 'LICENSE' } as const
const FOLDER: FolderRow = { counts: { skills: 0, documents: 0 }, license: LICENSE }

function skillRow({ path, title, fields }: SearchInput, file: string | SearchableFile): SkillRow {
  const describedOnly = typeof file !== 'string' && file.describedOnly === true
  return {
    path,
    directory: folderOf(path),
    name: fields.name ?? title,
    description: fields.description ?? '',
    warnings: [],
    translations: { de: { name: `${title} (de)` } },
    license: LICENSE,
    ...(describedOnly && { describedOnly }),
  }
}

function foldersOf(inputs: readonly SearchInput[]): string[] {
  const folders = new Set<string>()
  for (const { path } of inputs) {
    for (let folder = folderOf(path); folder !== ''; folder = folderOf(folder)) folders.add(folder)
  }
  return [...folders].sort(compareBytes)
}

function ownerOf(path: string, skills: ReadonlySet<string>): string | null {
  let folder = path
  do {
    folder = folderOf(folder)
    const skill = folder === '' ? 'SKILL.md' : `${folder}/SKILL.md`
    if (skills.has(skill)) return skill
  } while (folder !== '')
  return null
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

function fileTitle(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]+$/, '')
}

function oneRepositoryHost(): GitHost {
  return {
    segment: 'local',
    isRemote: false,
    repository: async () => ({ status: 'ok', value: REPOSITORY }),
    resolve: async () => ({ status: 'ok', value: COMMIT }),
    refs: async () => ({ status: 'ok', value: new Map() }),
    tip: async () => ({ status: 'ok', value: COMMIT }),
    open: async () => {
      throw new Error('the snapshot is all there is')
    },
    urls: { raw: (_repository, commit, path) => `http://127.0.0.1/raw/${commit}/${path}` },
    close: async () => {},
  }
}
