import { createHmac, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { CommitSha } from '#core/commit-sha.ts'
import type { HookAnswer, HookHeaders, HostHook, HostRepository } from '#core/ports/git-host.ts'
import { readRepository } from './described.ts'

/** A repository as a message names it. */
export interface NamedRepository {
  id: string
  /** `acme/tools` */
  fullName: string
}

export interface WebhookOptions {
  secret: string
  /** Nothing that was known of the repositories may be given out any more. One message may name thousands. */
  onChanged(named: readonly NamedRepository[]): void
  /** Its refs may have moved. @returns whether somebody has opened the ref that did */
  onPushed(repositoryId: string, ref: string): boolean
  /** What the operator should know. */
  onWarning(message: string): void
}

/** GitHub sends up to 25 MB. Messages that come near name thousands of commits or repositories; what they tell is noticed a minute later. */
const BYTES = 4 * 1024 * 1024
/**
 * Messages that are remembered, since GitHub sends some of them again. They are known by their signature: the id of a delivery stands in a
 * header that nobody has signed, so whoever got hold of a message could send it under any. One that is no longer remembered makes
 * the next visitor ask the host; an old push lists the repository as it was, until somebody opens its default branch.
 */
const REMEMBERED = 10_000
/** GitHub takes a secret of any length, so it is no error. */
const SHORT_CHARACTERS = 16

const SIGNATURE = /^sha256=([0-9a-f]{64})$/

/** Messages of GitHub, as a webhook of a repository, an organisation or an app sends them. */
export function createWebhook({ secret, onChanged, onPushed, onWarning }: WebhookOptions): HostHook {
  if (secret.length < SHORT_CHARACTERS) {
    onWarning(
      `MOUNTGLASS_GITHUB_WEBHOOK_SECRET has fewer than ${SHORT_CHARACTERS} characters: whoever guesses it can pose as GitHub`,
    )
  }
  const seen = new LRUCache<string, true>({ max: REMEMBERED })

  function hear(event: string, message: unknown): HookAnswer {
    const said = readMessage(event, message)
    if (said === null) return { status: 'malformed' }
    const { changed, push } = said
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
      const answer = hear(event, parseJson(body))
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

interface Said {
  changed: NamedRepository[]
  push: Push | null
}

interface Push {
  repositoryId: string
  /** `refs/heads/main` */
  ref: string
  /** `null` unless everyone may see it. */
  repository: HostRepository | null
  /** `null` when the ref is gone. */
  commit: CommitSha | null
}

const NOTHING: Said = { changed: [], push: null }

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

/** What a message means to us; `null`: it is not as GitHub describes it. */
function readMessage(event: string, message: unknown): Said | null {
  switch (event) {
    case 'push': {
      const pushed = Pushed.safeParse(message).data
      if (!pushed) return null
      const { ref, head_commit, repository } = pushed
      const described = readRepository(repository)
      return {
        changed: [],
        push: {
          repositoryId: `gh-${repository.id}`,
          ref,
          repository: described === 'hidden' ? null : described,
          // Behind an annotated tag, too.
          commit: (head_commit?.id ?? null) as CommitSha | null,
        },
      }
    }
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
