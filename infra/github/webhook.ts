import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { CommitSha } from '#core/commit-sha.ts'
import { memoryOfEntry } from '#core/memory.ts'
import type { HookAnswer, HookHeaders, HostHook, HostRepository } from '#core/ports/git-host.ts'
import { mapRepository } from './map-repository.ts'

/** What a webhook delivery says has changed. Everything that is known of it is outdated. One delivery may name thousands of repositories. */
export const HostChange = z.strictObject({
  /** `fullName`: `acme/tools` */
  repositories: z.array(z.strictObject({ id: z.string(), fullName: z.string() })),
  /** Logins. Any repository of the account may have changed. */
  accounts: z.array(z.string()),
  /** Refs that moved, in full: `refs/heads/main`. `id`: of the repository. */
  refs: z.array(z.strictObject({ id: z.string(), ref: z.string() })),
  /** Whether what people may see changed in a way that names neither a repository nor an account: a person took the App's authorization back. */
  people: z.literal(true).optional(),
})
export type HostChange = z.infer<typeof HostChange>
export type NamedRepository = HostChange['repositories'][number]

export interface WebhookOptions {
  secret: string
  /** Called with what changed. @returns whether this process has resolved a ref that moved */
  onHeard(change: HostChange): boolean
  /** Receives warnings for the operator. */
  onWarning(message: string): void
}

/**
 * GitHub sends up to 25 MB. Larger deliveries than this limit are refused; they name thousands of commits or repositories. The next request after the cached
 * answers expire finds those changes.
 */
const BYTES = 4 * 1024 * 1024
/**
 * Memory of the deliveries that this process remembers, some ten thousand, by event and signature, to ignore repeated and replayed ones. Their ids would not do: they are in a
 * header that is not signed. The event is in such a header, too, so a replay under another event is not recognized, nor is one after eviction
 * or in another process. It drops the cached answers, so the next visitor asks the host. A replayed push also
 * offers its old commit for indexing, unless it is one of the default branch and the host can be asked.
 */
const REMEMBERED_BYTES = 4 * 1024 * 1024
/** GitHub accepts shorter secrets, so a shorter one is only a warning. */
const SHORT_CHARACTERS = 16

const SIGNATURE = /^sha256=[0-9a-f]{64}$/

/** Verifies and interprets deliveries of a webhook of a repository, an organization or an app. */
export function createWebhook({ secret, onHeard, onWarning }: WebhookOptions): HostHook {
  if (secret.length < SHORT_CHARACTERS) {
    onWarning(
      `MOUNTGLASS_GITHUB_WEBHOOK_SECRET has fewer than ${SHORT_CHARACTERS} characters and may be guessed: generate a longer one, for example with openssl rand -hex 32`,
    )
  }
  const seen = new LRUCache<string, true>({ maxSize: REMEMBERED_BYTES, sizeCalculation: memoryOfEntry })

  function interpret(event: string, message: unknown): HookAnswer {
    const delivery = readDelivery(event, message)
    if (delivery === null) return { status: 'malformed' }
    const { changed, gone, accounts, push, isKnown, people } = delivery
    const refs = push === null ? [] : [{ id: push.repositoryId, ref: push.ref }]
    const isAnything = people !== undefined || changed.length + accounts.length + refs.length > 0
    const isOpened = isAnything && onHeard({ repositories: changed, accounts, refs, ...(people && { people }) })
    if (push === null) return isKnown ? { status: 'heard', commits: [], gone } : { status: 'ignored' }
    const { ref, repository, commit } = push
    if (!isOpened || !repository || !commit) return { status: 'heard', commits: [], gone }
    const isDefault = ref === `refs/heads/${repository.defaultBranch}`
    return { status: 'heard', commits: [{ repository, commit, isDefault }], gone }
  }

  return {
    name: 'github',
    maxBytes: BYTES,
    isSigned: headers => signatureOf(headers) !== null,

    async receive(headers, body) {
      const signature = signatureOf(headers)
      // GitHub signs JSON and forms, which are UTF-8. Other bytes become another text, whose signature is another one.
      const text = Buffer.from(body).toString('utf8')
      if (signature === null || !(await isSignedWith(secret, text, signature))) return { status: 'forged' }
      const event = headers['x-github-event']
      if (typeof event !== 'string') return { status: 'malformed' }
      const key = `${event} ${signature}`
      if (seen.has(key)) return { status: 'ignored' }
      const answer = interpret(event, parseBody(headers, text))
      if (answer.status !== 'malformed') seen.set(key, true)
      return answer
    },
  }
}

function signatureOf(headers: HookHeaders): string | null {
  const signature = headers['x-hub-signature-256']
  return typeof signature === 'string' && SIGNATURE.test(signature) ? signature : null
}

/** The library is loaded by the first delivery: most processes receive none. It refuses to verify an empty body. */
async function isSignedWith(secret: string, text: string, signature: string): Promise<boolean> {
  const { verify } = await import('@octokit/webhooks-methods')
  return text !== '' && (await verify(secret, text, signature))
}

/** The message, as JSON or in the field `payload` of a form, which is GitHub's default. */
function parseBody(headers: HookHeaders, text: string): unknown {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(String(headers['content-type'] ?? ''))
  try {
    return JSON.parse(isForm ? (new URLSearchParams(text).get('payload') ?? '') : text)
  } catch {
    return undefined
  }
}

interface Delivery {
  changed: NamedRepository[]
  /** See `HookAnswer`. */
  gone: string[]
  /** Logins of accounts. Any of their repositories may have changed. */
  accounts: string[]
  /** See `HostChange`. */
  people?: true
  push: Push | null
  /** Whether the event is one of those that are interpreted. */
  isKnown: boolean
}

interface Push {
  repositoryId: string
  /** `refs/heads/main` */
  ref: string
  /** `null` when it is not described. */
  repository: HostRepository | null
  /** `null` when the ref was deleted. */
  commit: CommitSha | null
}

const NOTHING: Delivery = { changed: [], gone: [], accounts: [], push: null, isKnown: false }
const KNOWN: Delivery = { ...NOTHING, isKnown: true }

const Named = z
  .object({ id: z.int().positive(), full_name: z.string() })
  .transform(({ id, full_name }): NamedRepository => ({ id: `gh-${id}`, fullName: full_name }))

const Changed = z.object({ action: z.string().optional(), repository: Named })
/** An enterprise has no login: it owns organizations, which have installations of their own. */
const Installation = z.object({ account: z.object({ login: z.string().optional() }).nullable() })
const Installed = z.object({ action: z.string(), installation: Installation, repositories: z.array(Named).default([]) })
const Selected = z.object({ repositories_added: z.array(Named), repositories_removed: z.array(Named) })
const Renamed = z.object({
  action: z.literal('renamed'),
  changes: z.object({ login: z.object({ from: z.string() }) }),
  organization: z.object({ login: z.string() }),
})
const Organized = z.object({ action: z.string(), organization: z.object({ login: z.string() }) })
const Revoked = z.object({ action: z.string(), sender: z.object({ login: z.string() }) })
const Pushed = z.object({
  ref: z.string().startsWith('refs/'),
  head_commit: z.object({ id: z.string().regex(/^[0-9a-f]{40}$/) }).nullable(),
  repository: z.looseObject({ id: z.int().positive() }),
})

/** Parses a delivery; `null` when it is not as GitHub documents it. */
function readDelivery(event: string, message: unknown): Delivery | null {
  switch (event) {
    case 'push':
      return readPush(Pushed.safeParse(message).data)
    case 'repository':
    case 'public':
    case 'member': {
      const changed = Changed.safeParse(message).data
      if (!changed) return null
      const isGone = event === 'repository' && changed.action === 'deleted'
      return { ...KNOWN, changed: [changed.repository], gone: isGone ? [changed.repository.id] : [] }
    }
    // Also suspended and unsuspended ones. The message need not name every repository.
    case 'installation': {
      const installed = Installed.safeParse(message).data
      if (!installed) return null
      const login = installed.installation.account?.login
      const gone = installed.action === 'deleted' ? installed.repositories.map(({ id }) => id) : []
      return { ...KNOWN, changed: installed.repositories, gone, accounts: login === undefined ? [] : [login] }
    }
    case 'installation_repositories': {
      const selected = Selected.safeParse(message).data
      if (!selected) return null
      const { repositories_added: added, repositories_removed: removed } = selected
      return { ...KNOWN, changed: [...added, ...removed], gone: removed.map(({ id }) => id) }
    }
    case 'organization': {
      const renamed = Renamed.safeParse(message).data
      if (renamed) return { ...KNOWN, accounts: [renamed.changes.login.from, renamed.organization.login] }
      return Organized.safeParse(message).success ? NOTHING : null
    }
    // A person took the app's authorization back.
    case 'github_app_authorization':
      return Revoked.safeParse(message).success ? { ...KNOWN, people: true } : null
    default:
      return NOTHING
  }
}

function readPush(pushed: z.infer<typeof Pushed> | undefined): Delivery | null {
  if (!pushed) return null
  const { ref, head_commit, repository } = pushed
  return {
    ...KNOWN,
    push: {
      repositoryId: `gh-${repository.id}`,
      ref,
      repository: mapRepository(repository),
      // Also the commit of an annotated tag.
      commit: (head_commit?.id ?? null) as CommitSha | null,
    },
  }
}
