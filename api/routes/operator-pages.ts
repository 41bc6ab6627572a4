import type { FastifyInstance } from 'fastify'
import { ServiceError } from '#core/errors.ts'
import type { Deps } from '../deps.ts'
import { answerPlainly, setEmbeddedHeaders } from '../http/embedded.ts'
import type { Handlers } from '../http/endpoint.ts'
import { declarePrefix } from '../http/raw-target.ts'
import { sendFile } from '../http/send-file.ts'

/** What the operator wrote: the showcase, and the legal pages. */
export function operatorHandlers(deps: Pick<Deps, 'operator'>): Pick<Handlers, 'showcase' | 'legal'> {
  return {
    showcase: async () => ({ items: [...deps.operator.showcase] }),
    async legal({ subject }) {
      const document = deps.operator.legal.find(({ kind }) => kind === subject)
      if (document === undefined) throw new ServiceError('legal.not_found')
      return document
    },
  }
}

/** `GET /media/<sha256>.<extension>`: the operator's pictures and clips, named by their content and therefore immutable. */
export function registerMedia(app: FastifyInstance, deps: Pick<Deps, 'operator'>): void {
  app.register(async instance => {
    instance.addHook('onRequest', setEmbeddedHeaders)
    instance.setErrorHandler(answerPlainly)
    instance.get(declarePrefix(instance, '/media'), { schema: { hide: true } }, async (request, reply) => {
      const name = request.rawAddress ?? ''
      const medium = deps.operator.media.get(name)
      if (!medium) throw new ServiceError('file.not_found')
      const { type, sizeBytes, read } = medium
      const headers = { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' }
      return await sendFile(request, reply, { sizeBytes, etag: `"${name}"`, headers, read: range => begun(read(range)) })
    })
  })
}

/** The parts, once the first of them is there: a medium that cannot be read is an error, and not an answer that breaks off. */
async function begun(parts: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const reading = parts[Symbol.asyncIterator]()
  const first = await reading.next()
  return (async function* () {
    if (first.done) return
    yield first.value
    yield* { [Symbol.asyncIterator]: () => reading }
  })()
}
