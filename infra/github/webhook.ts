import { createHmac, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { CommitSha } from '#core/commit-sha.ts'
import type { HookAnswer, HookHeaders, HostHook, HostRepository } from '#core/ports/git-host.ts'
import { readRepository } from './described.ts'

/** A repository, as a webhook delivery names it. */
export interface NamedRepository {
  id: string
  /** `acme/tools` */
  fullName: string
}

export interface WebhookOptions {
  secret: string
  /** Called when everything known of the repositories is outdated. One delivery may name thousands. */
  onChanged(named: readonly NamedRepository[]): void
  /** Called when a ref moved. @returns whether this process has resolved the ref */
  onPushed(repositoryId: string, ref: string): boolean
  /** Receives warnings for the operator. */
  onWarning(message: string): void
}

/**
 * GitHub sends up to 25 MB. Larger deliveries than this limit name thousands of commits or repositories. The next request after the cached
 * answers expire finds those changes.
 */
const BYTES = 4 * 1024 * 1024
/**
 * Deliveries that this process remembers, by event and signature, to ignore repeated and replayed ones. Their ids would not do: they are in a
 * header that is not signed. The event is in such a header, too, so a replay under another event is not recognized, nor is one after eviction
 * or in another process. It drops the cached answers, so the next visitor asks the host. A replayed push of a ref that this process resolved
 * also offers its old commit for indexing, and lists the repository as it was, until its default branch is opened.
 */
const REMEMBERED = 10_000
/** GitHub accepts shorter secrets, so a shorter one is only a warning. */
const SHORT_CHARACTERS = 16

const SIGNATURE = /^sha256=([0-9a-f]{64})$/

/** Verifies and interprets deliveries of a webhook of a repository, an organization or an app. */
export function createWebhook({ secret, onChanged, onPushed, onWarning }: WebhookOptions): HostHook {
  if (secret.length < SHORT_CHARACTERS) {
    onWarning(
      `MOUNTGLASS_GITHUB_WEBHOOK_SECRET has fewer than ${SHORT_CHARACTERS} characters and may be guessed: generate a longer one, for example with openssl rand -hex 32`,
    )
  }
  const seen = new LRUCache<string, true>({ max: REMEMBERED })

  function interpret(event: string, message: unknown): HookAnswer {
    const delivery = readDelivery(event, message)
    if (delivery === null) return { status: 'malformed' }
    const { changed, push } = delivery
    if (changed.length > 0) onChanged(changed)
    if (push === null) return changed.length > 0 ? { status: 'heard', commits: [] } : { status: 'ignored' }
    const isOpened = onPushed(push.repositoryId, push.ref)
    const { ref, repository, commit } = push
    if (!isOpened || !repository || !commit) return { status: 'heard', commits: [] }
    return { status: 'heard', commits: [{ repository, commit, isDefault: ref === `refs/heads/${repository.defaultBranch}` }] }
  }

  return {
    name: 'github',
    maxBytes: BYTES,
    isSigned: headers => signatureOf(headers) !== null,

    receive(headers, body) {
      const given = signatureOf(headers)
      if (given === null || !timingSafeEqual(given, createHmac('sha256', secret).update(body).digest()))
        return { status: 'forged' }
      const event = headers['x-github-event']
      if (typeof event !== 'string') return { status: 'malformed' }
      const key = `${event} ${given.toString('base64')}`
      if (seen.has(key)) return { status: 'ignored' }
      const answer = interpret(event, parseJson(body))
      if (answer.status !== 'malformed') seen.set(key, true)
      return answer
    },
  }
}

function signatureOf(headers: HookHeaders): Buffer | null {
  const digits = SIGNATURE.exec(String(headers['x-hub-signature-256'] ?? ''))?.[1]
  return digits === undefined ? null : Buffer.from(digits, 'hex')
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return undefined
  }
}

interface Delivery {
  changed: NamedRepository[]
  push: Push | null
}

interface Push {
  repositoryId: string
  /** `refs/heads/main` */
  ref: string
  /** `null` unless it is public. */
  repository: HostRepository | null
  /** `null` when the ref was deleted. */
  commit: CommitSha | null
}

const NOTHING: Delivery = { changed: [], push: null }

const Named = z
  .object({ id: z.int().positive(), full_name: z.string() })
  .transform(({ id, full_name }): NamedRepository => ({ id: `gh-${id}`, fullName: full_name }))

const Changed = z.object({ repository: Named })
const Installed = z.object({ repositories: z.array(Named).default([]) })
const Selected = z.object({ repositories_added: z.array(Named), repositories_removed: z.array(Named) })
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
    case 'public': {
      const changed = Changed.safeParse(message).data
      return changed ? { changed: [changed.repository], push: null } : null
    }
    case 'installation': {
      const installed = Installed.safeParse(message).data
      return installed ? { changed: installed.repositories, push: null } : null
    }
    case 'installation_repositories': {
      const selected = Selected.safeParse(message).data
      return selected ? { changed: [...selected.repositories_added, ...selected.repositories_removed], push: null } : null
    }
    default:
      return NOTHING
  }
}

function readPush(pushed: z.infer<typeof Pushed> | undefined): Delivery | null {
  if (!pushed) return null
  const { ref, head_commit, repository } = pushed
  const described = readRepository(repository)
  return {
    changed: [],
    push: {
      repositoryId: `gh-${repository.id}`,
      ref,
      repository: described === 'hidden' ? null : described,
      // Also the commit of an annotated tag.
      commit: (head_commit?.id ?? null) as CommitSha | null,
    },
  }
}
