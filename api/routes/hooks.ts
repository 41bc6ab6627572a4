import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { CommitSha } from '#core/commit-sha.ts'
import { ServiceError } from '#core/errors.ts'
import type { HostHook, PushedCommit } from '#core/ports/git-host.ts'
import type { Deps } from '../deps.ts'
import type { BodyLimits, BodyReader } from '../http/body-reader.ts'
import { isServed } from '../mount/open-mount.ts'
import { requestIndexing } from '../mount/request-indexing.ts'

/**
 * `POST /hooks/<name>`: webhooks of a git host, answered at once. Refs that were opened before are then indexed anew. A change whose
 * webhook is lost is found by the next request after the cached answers expire.
 */
export function registerHooks(app: FastifyInstance, deps: Deps, bodies: BodyReader): void {
  for (const { hook } of deps.hosts) if (hook) app.register(async instance => registerHook(instance, hook, deps, bodies))
}

/**
 * The signature can be verified only after the whole body was read, so bodies of strangers are held in memory. GitHub gives up after ten
 * seconds.
 */
export const HOOK_BODIES: BodyLimits = { totalBytes: 64 * 1024 * 1024, deadlineMs: 10_000 }

async function registerHook(app: FastifyInstance, hook: HostHook, deps: Deps, bodies: BodyReader): Promise<void> {
  const working = new Set<Promise<void>>()
  app.addHook('onClose', async () => {
    await Promise.all(working)
  })
  // The signature covers the bytes as received.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (_request: FastifyRequest, body: IncomingMessage) => bodies.read(body, hook.maxBytes))

  app.post(`/hooks/${hook.name}`, {
    schema: { hide: true },
    // An unsigned body is not read.
    onRequest: async ({ headers }) => {
      if (!hook.isSigned(headers)) throw new ServiceError('hook.forged')
    },
    async handler({ headers, body, log }, reply) {
      const heard = await hook.receive(headers, Buffer.isBuffer(body) ? body : Buffer.alloc(0))
      switch (heard.status) {
        case 'forged':
          throw new ServiceError('hook.forged')
        case 'malformed':
          throw new ServiceError('request.invalid', { message: 'the body is not a webhook delivery of the git host' })
        case 'ignored':
          return reply.code(204).send()
        case 'heard': {
          for (const id of heard.gone) deps.hidden.gone(id)
          const work = Promise.all(heard.commits.map(pushed => indexAnew(deps, pushed))).then(
            () => {},
            error => log.warn({ err: error }, 'cannot offer pushed commits for indexing'),
          )
          working.add(work)
          deps.onWorking?.(work)
          void work.finally(() => working.delete(work))
          return reply.code(202).send()
        }
      }
    },
  })
}

async function indexAnew(deps: Deps, pushed: PushedCommit): Promise<void> {
  const { repository } = pushed
  const { host, owner, name } = repository
  if (!isServed(deps, { host, owner, repository: name })) return
  const latest = pushed.isDefault ? await latestOf(deps, pushed) : pushed
  if (latest === null) return
  const { commit, isDefault } = latest
  const snapshot = await deps.snapshots.open(repository, commit)
  if (snapshot === null) await requestIndexing(deps, { repository, commit, ...(isDefault ? { isDefault } : {}) })
  else if (isDefault) await deps.listings.keep({ repository, commit, header: snapshot.header })
}

/**
 * What the default branch is at by now; `null` when the host no longer shows it. Deliveries come out of order and twice, so an older push must
 * not take the place of a newer one on the page of the owner. While the host cannot be asked, the pushed commit is indexed as one of any other
 * ref, and listed by the next visit.
 */
async function latestOf(
  { hosts }: Deps,
  { repository, commit }: PushedCommit,
): Promise<{ commit: CommitSha; isDefault: boolean } | null> {
  const host = hosts.find(({ segment }) => segment === repository.host)
  const tip = await host?.tip(repository)
  if (tip?.status === 'missing') return null
  return tip?.status === 'ok' ? { commit: tip.value, isDefault: true } : { commit, isDefault: false }
}
