import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Deps } from '../deps.ts'
import { allowAnyOrigin } from '../http/any-origin.ts'
import { declareBelow, declarePrefix } from '../http/raw-target.ts'
import { answerFromMount } from '../mount/answer-from-mount.ts'
import type { OpenMount } from '../mount/open-mount.ts'
import { listPackages } from '../packages/packages.ts'
import type { AddressHandlers } from './address-endpoints.ts'
import { addressText, serviceText } from './llms-text.ts'
import { subjectParsers } from './subject-parsers.ts'

const NAME = '/llms.txt'

/** `/llms.txt` and `/<address>/llms.txt`: what is here, and how an agent reads it. */
export function registerLlms(
  app: FastifyInstance,
  deps: Deps,
  { mounts }: Pick<AddressHandlers, 'mounts'>,
  baseUrl: string,
): void {
  const { address } = subjectParsers(deps)
  app.register(async instance => {
    allowAnyOrigin(instance)
    instance.get(NAME, { schema: { hide: true } }, async (_request, reply) =>
      send(reply, serviceText(baseUrl), 'public, max-age=3600'),
    )
    for (const { segment } of deps.hosts) {
      const prefix = declarePrefix(instance, `/${segment}`, { isPartOfAddress: true })
      instance.get(
        `${prefix}${declareBelow(instance, NAME)}`,
        { schema: { hide: true } },
        async ({ rawAddress, viewer }, reply) => {
          const subject = address(rawAddress ?? '')
          const mount = await mounts({ subject, query: {}, body: null, viewer })
          // Clients that install skills send no token.
          const isOpen = mount.index.status === 'ready' && mount.repository.visibility === 'public'
          const isInstallable = isOpen && (await answerFromMount(deps, { viewer, subject }, hasPackages))
          const cacheControl = mount.index.status === 'ready' ? 'public, max-age=60' : 'no-store'
          return send(reply, addressText(mount, baseUrl, isInstallable), cacheControl)
        },
      )
    }
  })
}

async function hasPackages(mount: OpenMount): Promise<boolean> {
  return mount.status === 'ready' && (await listPackages(mount.snapshot, mount.address.path, { limit: 1 })).length > 0
}

function send(reply: FastifyReply, text: string, cacheControl: string): FastifyReply {
  return reply.headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': cacheControl }).send(text)
}
