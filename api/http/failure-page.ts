import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '#core/errors.ts'
import { answerError } from './error-handler.ts'

/** A failure of a navigation, which a person sees as a page. */
export interface Failure {
  status: number
  /** `sign_in.failed`, `sign_in.unavailable`, `forget.pending`, or a code of `core/errors.ts`. */
  code: string
  message: string
  retryAfterSeconds: number | null
}

/** What the pages do for routes of the service. */
export interface Pages {
  /** Sends the page of a failure; `null` where there are no pages. */
  sendFailure: ((request: FastifyRequest, reply: FastifyReply, failure: Failure) => Promise<void>) | null
}

declare module 'fastify' {
  interface FastifyInstance {
    pages: Pages
  }
}

export function preparePages(app: FastifyInstance): void {
  app.decorate('pages', { sendFailure: null } satisfies Pages)
}

/** Answers a navigation that failed with a page, which says the message alone where this deployment has no pages. Messages are constants. */
export async function answerFailure(request: FastifyRequest, reply: FastifyReply, failure: Failure): Promise<void> {
  const { sendFailure } = request.server.pages
  if (sendFailure !== null) return await sendFailure(request, reply, failure)
  const { status, code, message, retryAfterSeconds } = failure
  if (retryAfterSeconds !== null) reply.header('retry-after', Math.ceil(retryAfterSeconds))
  const page = `<!doctype html><html lang="en"><title>${status} ${code}</title><p>${message}</p><p><a href="/">Start again</a></p></html>`
  await reply.code(status).type('text/html; charset=utf-8').send(page)
}

/** The handler of errors of routes to which a browser navigates. Programs, which do not ask for HTML, receive the error of the interface. */
export async function answerErrorOnPage(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const isNavigation = /\btext\/html\b/.test(request.headers.accept ?? '')
  if (!(error instanceof ServiceError) || !isNavigation) {
    await answerError(error as Parameters<typeof answerError>[0], request, reply)
    return
  }
  const { code, status, message, details } = error
  await answerFailure(request, reply, { status, code, message, retryAfterSeconds: details.retryAfter ?? null })
}
