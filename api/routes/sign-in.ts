import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '#core/errors.ts'
import { admit, originOf } from '../http/admit.ts'
import { answerErrorOnPage, answerFailure } from '../http/error-handler.ts'
import { acceptForms, type FormFields } from '../http/form-body.ts'
import { SIGN_OUTS, type SignOut } from '../people/account.ts'
import { cookiesOf } from '../people/cookies.ts'
import type { People } from '../people/people.ts'
import { CALLBACK_PATH, type Callback } from '../people/sign-in.ts'

/**
 * Signing in and out: navigations of a browser. Not registered where sign-in is not set up.
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
  app.setErrorHandler(answerErrorOnPage)
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
    if (outcome.status === 'failed') await answerFailure(request, reply, FAILED)
    else await answerFailure(request, reply, { ...UNAVAILABLE, retryAfterSeconds: outcome.retryAfterSeconds })
    return reply
  })

  app.post('/auth/sign-out', {
    schema: { hide: true },
    onRequest: async request => {
      request.viewer = await admit({ people, origin }, request, { guard: 'own_pages_of_anyone', credential: 'session' })
    },
    handler: async (request, reply) => {
      const what = parseSignOut(request)
      const { viewer } = request
      const end = viewer.kind === 'person' ? await account.signOut({ viewer, origin: originOf(request) }, what) : 'done'
      // A session that has ended already needs no sign-out. Ending all sessions, or deleting all data, needs a person who is signed in.
      if (viewer.kind !== 'person' && what !== 'session') throw new ServiceError('auth.required')
      // Not "cookies": it would clear those of the whole domain.
      reply.headers({ 'set-cookie': session.clear(), 'clear-site-data': '"cache", "storage"' })
      if (end === 'pending') {
        await answerFailure(request, reply, PENDING)
        return reply
      }
      const { lang = '' } = (request.body ?? {}) as FormFields
      return reply.redirect(/^[a-z]{2}$/.test(lang) ? `/?lang=${lang}` : '/', 303)
    },
  })
}

/** @throws ServiceError `request.invalid` */
function parseSignOut({ body }: Pick<FastifyRequest, 'body'>): SignOut {
  const { what = 'session', ...others } = (body ?? {}) as FormFields
  // The language of the page, which every form has.
  const isPlain = Object.keys(others).every(name => name === 'lang')
  const found = SIGN_OUTS.find(one => one === what)
  if (found !== undefined && isPlain) return found
  throw new ServiceError('request.invalid', { message: `field what must be one of ${SIGN_OUTS.join(', ')}` })
}

/** Everything is deleted, so that it is no failure, but the person should know what is left to be done. */
const PENDING = {
  status: 202,
  code: 'forget.pending',
  message: 'everything is deleted here; the git host could not be asked to end its part, and is asked again once a day',
  retryAfterSeconds: null,
} as const
const FAILED = {
  status: 400,
  code: 'sign_in.failed',
  message: 'the sign-in was begun in another browser, took longer than ten minutes, was refused, or was used before; start again',
  retryAfterSeconds: null,
} as const
const UNAVAILABLE = {
  status: 503,
  code: 'sign_in.unavailable',
  message: 'the git host cannot be asked now who signs in; try again later',
} as const
