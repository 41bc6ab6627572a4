import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '#core/errors.ts'
import { admit, originOf } from '../http/admit.ts'
import { acceptForms, type FormFields } from '../http/form-body.ts'
import { SIGN_OUTS, type SignOut } from '../people/account.ts'
import { cookiesOf } from '../people/cookies.ts'
import type { People } from '../people/people.ts'
import { CALLBACK_PATH, type Callback } from '../people/sign-in.ts'

/**
 * Signing in and out: navigations of a browser. Where nobody signs in, there are no such routes.
 *
 * @param origin the public origin of the deployment
 */
export function registerSignIn(app: FastifyInstance, people: People | null, origin: string): void {
  if (people?.signIn && people.account) app.register(async instance => registerRoutes(instance, people, origin))
}

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  // The address of a callback has a code.
  'referrer-policy': 'no-referrer',
} as const

// A HEAD would use up what a GET of the browser needs.
const NAVIGATION = { schema: { hide: true }, exposeHeadRoute: false } as const

function registerRoutes(app: FastifyInstance, people: People, origin: string): void {
  const { signIn, account } = people
  if (signIn === null || account === null) return
  const { session } = cookiesOf(origin)
  acceptForms(app)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(HEADERS)
    done()
  })

  app.get('/auth/sign-in', NAVIGATION, async ({ headers, query }, reply) => {
    const to = (query as Callback).return
    const { location, cookies } = await signIn.begin(headers, typeof to === 'string' ? to : undefined)
    return reply.header('set-cookie', cookies).redirect(location, 302)
  })

  app.get(CALLBACK_PATH, NAVIGATION, async (request, reply) => {
    const outcome = await signIn.finish(request.headers, request.query as Callback, originOf(request))
    reply.header('set-cookie', outcome.cookies)
    if (outcome.status === 'signed_in') return reply.redirect(outcome.location, 303)
    if (outcome.status === 'failed') return sendPage(reply, 400, FAILED)
    if (outcome.retryAfterSeconds !== null) reply.header('retry-after', Math.ceil(outcome.retryAfterSeconds))
    return sendPage(reply, 503, UNAVAILABLE)
  })

  app.post('/auth/sign-out', {
    schema: { hide: true },
    onRequest: async request => {
      request.viewer = await admit({ people, origin }, request, { guard: 'own_pages_of_anyone', credential: 'session' })
    },
    handler: async (request, reply) => {
      const what = parseSignOut(request)
      const { viewer } = request
      if (viewer.kind === 'person') await account.signOut({ viewer, origin: originOf(request) }, what)
      // A session that has ended needs no end. For more than that somebody has to be signed in.
      else if (what !== 'session') throw new ServiceError('auth.required')
      // Not "cookies": it would clear those of the whole domain.
      reply.headers({ 'set-cookie': session.clear(), 'clear-site-data': '"cache", "storage"' })
      return reply.redirect('/', 303)
    },
  })
}

/** @throws ServiceError `request.invalid` */
function parseSignOut({ body }: Pick<FastifyRequest, 'body'>): SignOut {
  const { what = 'session', ...others } = (body ?? {}) as FormFields
  const found = SIGN_OUTS.find(one => one === what)
  if (found !== undefined && Object.keys(others).length === 0) return found
  throw new ServiceError('request.invalid', { message: `field what must be one of ${SIGN_OUTS.join(', ')}` })
}

const FAILED = {
  title: 'The sign-in failed',
  text: 'It was begun in another browser, took longer than ten minutes, was refused, or was used before. Nothing changed. Start again.',
}
const UNAVAILABLE = {
  title: 'The git host does not answer',
  text: 'Whether you are signed in there cannot be asked now. Nothing changed. Try again in a minute.',
}

/** Without scripts and without anything that the request said. */
function sendPage(reply: FastifyReply, status: 400 | 503, { title, text }: { title: string; text: string }) {
  const links = '<p><a href="/auth/sign-in">Sign in again</a> or <a href="/">go to the front page</a>.</p>'
  const style = '<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}</style>'
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>${style}`
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html><html lang="en"><head>${head}</head><body><main><h1>${title}</h1><p>${text}</p>${links}</main></body></html>`,
    )
}
