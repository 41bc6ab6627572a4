import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { DocStore } from '#core/ports/doc-store.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import type { JobQueue } from '#core/ports/job-queue.ts'
import type { Clock, RandomSource } from '#core/ports/system.ts'
import { SettingsError } from '#core/settings.ts'
import type { InfraSettings, StoreSetting } from './config.ts'
import { openDiskBlobStore } from './disk/blob-store.ts'
import { openDiskDocStore } from './disk/doc-store.ts'
import { readOrCreateSecret } from './disk/secret-file.ts'
import { requireGit } from './git/process.ts'
import { openGitHubHost } from './github/host.ts'
import { prepareExampleRepositories } from './local/example.ts'
import { type LocalHost, openLocalHost } from './local/host.ts'
import { createMemoryBlobStore } from './memory/blob-store.ts'
import { createMemoryDocStore } from './memory/doc-store.ts'
import { createDocQueue } from './queue/doc-queue.ts'
import { systemClock } from './system/clock.ts'
import { systemRandom } from './system/random.ts'

/** The outside world of one process. */
export interface Infra {
  blobs: BlobStore
  docs: DocStore
  queue: JobQueue
  hosts: readonly GitHost[]
  /** The host of local repositories, whose raw files this process serves itself; `null` where there is no git program. */
  local: LocalHost | null
  clock: Clock
  random: RandomSource
  /** A secret of the deployment: made once and kept with the store, for as long as the process lives with `memory:`. */
  secret(name: string, make: () => string): Promise<string>
  close(): Promise<void>
}

const EXAMPLE = fileURLToPath(new URL('../examples/handbook', import.meta.url))

/**
 * Opens the drivers that the settings name.
 *
 * @throws SettingsError when a folder of the settings cannot be used
 */
export async function openInfra(settings: InfraSettings): Promise<Infra> {
  const store = await openStore(settings.store)
  const closing: (() => Promise<void>)[] = [store.close]
  const close = async () => {
    for (const closeOne of closing.reverse()) await closeOne()
  }
  try {
    const queue = createDocQueue(store.docs, systemClock)
    closing.push(() => queue.close())
    const hasGit = await isGitThere(settings)
    const local = hasGit ? await openLocal(settings, store.folder) : null
    if (local) closing.push(() => local.close())
    const hosts: GitHost[] = local ? [local] : []
    if (settings.github) {
      const onWarning = (message: string) => process.emitWarning(message)
      const github = await openGitHubHost({ ...settings.github, hasGit, clock: systemClock, onWarning })
      closing.push(() => github.close())
      hosts.push(github)
    }
    const { blobs, docs, secret } = store
    return { blobs, docs, queue, hosts, local, clock: systemClock, random: systemRandom, secret, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Without git there is still GitHub, unless local repositories are asked for. */
async function isGitThere(settings: InfraSettings): Promise<boolean> {
  try {
    await requireGit()
    return true
  } catch (error) {
    if (settings.github === null || settings.localRepositories !== null) throw error
    process.emitWarning(`${(error as Error).message}: only repositories of GitHub are served, read from archives`)
    return false
  }
}

async function openLocal(settings: InfraSettings, folder: string): Promise<LocalHost> {
  const root = settings.localRepositories ?? (await prepareExampleRepositories(EXAMPLE, join(folder, 'examples')))
  await requireFolder('MOUNTGLASS_LOCAL_REPOSITORIES', root)
  return openLocalHost({ root, baseUrl: settings.baseUrl })
}

interface OpenStore extends Pick<Infra, 'blobs' | 'docs' | 'secret'> {
  /** What else belongs to the deployment lies here. */
  folder: string
  close(): Promise<void>
}

async function openStore(setting: StoreSetting): Promise<OpenStore> {
  return setting.kind === 'memory' ? await openMemoryStore() : await openDiskStore(resolve(setting.folder))
}

async function openMemoryStore(): Promise<OpenStore> {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-'))
  const secrets = new Map<string, string>()
  return {
    folder,
    blobs: createMemoryBlobStore(systemClock),
    docs: createMemoryDocStore(),
    async secret(name, make) {
      const secret = secrets.get(name) ?? make()
      secrets.set(name, secret)
      return secret
    },
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

async function openDiskStore(folder: string): Promise<OpenStore> {
  try {
    const blobs = await openDiskBlobStore(folder)
    const docs = await openDiskDocStore(join(folder, 'documents.sqlite'))
    return {
      folder,
      blobs,
      docs,
      secret: (name, make) => readOrCreateSecret(join(folder, 'secrets', name), make),
      async close() {
        await docs.close()
        await blobs.close()
      },
    }
  } catch (cause) {
    throw new SettingsError('MOUNTGLASS_STORE', `cannot use the folder ${folder}: ${(cause as Error).message}`, { cause })
  }
}

async function requireFolder(variable: string, path: string): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (!found?.isDirectory()) throw new SettingsError(variable, `there is no folder ${path}`)
}
