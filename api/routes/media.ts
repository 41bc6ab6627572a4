import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { declarePrefix } from '../http/raw-target.ts'
import { sendFile } from '../http/send-file.ts'

/** `GET /media/<sha256>.<extension>`: the operator's pictures and clips, named by their content and therefore immutable. */
export function registerMedia(app: FastifyInstance, deps: Pick<Deps, 'operator'>): void {
  app.get(declarePrefix(app, '/media'), { schema: { hide: true } }, async (request, reply) => {
    const name = request.rawAddress ?? ''
    const medium = deps.operator.media.get(name)
    reply.header('content-security-policy', "default-src 'none'; sandbox")
    reply.header('cross-origin-resource-policy', 'cross-origin')
    if (!medium) return reply.code(404).header('cache-control', 'no-store').type('text/plain; charset=utf-8').send('not found\n')
    const { type, sizeBytes, read } = medium
    const headers = { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' }
    return await sendFile(request, reply, { sizeBytes, etag: `"${name}"`, headers, read: async range => read(range) })
  })
}
