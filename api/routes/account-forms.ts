import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AccountForm, AccountNotice } from '#core/contract/account-pages.ts'
import { TokenRequest } from '#core/contract/people.ts'
import { ServiceError } from '#core/errors.ts'
import { admit, originOf } from '../http/admit.ts'
import { answerErrorOnPage } from '../http/error-handler.ts'
import { acceptForms, type FormFields } from '../http/form-body.ts'
import { decide } from '../oauth/decision.ts'
import { endGrant } from '../oauth/grants.ts'
import type { OAuthDeps } from '../oauth/oauth.ts'
import { parseRedirectUri } from '../oauth/redirect-uri.ts'
import type { Account, Acting } from '../people/account.ts'
import { cookiesOf, createFlashMessages, type FlashMessages } from '../people/cookies.ts'
import type { People } from '../people/people.ts'

export interface AccountForms {
  people: People | null
  /** `null`: apps cannot connect here. */
  oauth: OAuthDeps | null
  /** The public origin of the deployment. */
  origin: string
}

/** The forms of the pages of a person, for browsers without scripts. Not registered where sign-in is not set up. */
export function registerAccountForms(app: FastifyInstance, { people, oauth, origin }: AccountForms): void {
  const account = people?.account
  if (!people || !account) return
  app.register(async instance => {
    acceptForms(instance)
    instance.setErrorHandler(answerErrorOnPage)
    const notices = createFlashMessages(people.context.seals, cookiesOf(origin).notice)
    const forms = new Forms({ people, account, notices, origin })
    forms.register(instance, '/account/tokens', 'token', '#tokens', createToken)
    forms.register(instance, '/account/tokens/:id/delete', 'delete_token', '#tokens', async ({ account, acting, id }) => {
      await account.deleteToken(acting, id)
      return null
    })
    forms.register(instance, '/account/sessions/:id/end', 'end_session', '#sessions', endSession)
    if (oauth === null) return
    forms.register(instance, '/account/grants/:id/delete', 'end_grant', '#apps', async ({ acting, id }) => {
      await endGrant(oauth, acting, id)
      return null
    })
    forms.registerDecision(instance, oauth)
  })
}

/** One form that was sent. */
interface Sent {
  account: Account
  acting: Acting
  fields: FormFields
  /** What the path names; empty where it names nothing. */
  id: string
}

/** Forms that a person sends from a page of this deployment, and that lead back to the page. */
class Forms {
  readonly #people: People
  readonly #account: Account
  readonly #notices: FlashMessages
  readonly #origin: string

  constructor(options: { people: People; account: Account; notices: FlashMessages; origin: string }) {
    this.#people = options.people
    this.#account = options.account
    this.#notices = options.notices
    this.#origin = options.origin
  }

  /** @param part of the page that says what the form led to */
  register(
    app: FastifyInstance,
    path: string,
    form: AccountForm,
    part: string,
    change: (sent: Sent) => Promise<AccountNotice | null>,
  ): void {
    app.post<{ Params: { id?: string } }>(path, {
      schema: { hide: true },
      onRequest: this.#admit('/account'),
      handler: async (request, reply) => {
        const fields = (request.body ?? {}) as FormFields
        const acting = actingOf(request)
        const notice = await outcomeOf(form, fields, () =>
          change({ account: this.#account, acting, fields, id: request.params.id ?? '' }),
        )
        return await this.#leadBack(reply, acting, notice, withLanguage('/account', fields) + partOf(notice, part))
      },
    })
  }

  registerDecision(app: FastifyInstance, oauth: OAuthDeps): void {
    app.post('/oauth/consent', {
      schema: { hide: true },
      onRequest: this.#admit('/'),
      handler: async (request, reply) => {
        const fields = (request.body ?? {}) as FormFields
        const { request: sealed = '', decision } = fields
        const acting = actingOf(request)
        let target = ''
        const notice = await outcomeOf('decision', fields, async () => {
          if (decision !== 'approve' && decision !== 'refuse') throw new ServiceError('oauth.invalid_request')
          const { redirect } = await decide(oauth, { request: sealed, approve: decision === 'approve' }, acting)
          target = requireTarget(redirect)
          return null
        })
        if (target !== '') return await leave(reply, target)
        const page = withLanguage(`/oauth/consent?${new URLSearchParams({ request: sealed })}`, fields)
        return await this.#leadBack(reply, acting, notice, page)
      },
    })
  }

  /** @param page where a visitor who is signed out is led */
  #admit(page: string) {
    return async (request: FastifyRequest, reply: FastifyReply) => {
      reply.header('cache-control', 'no-store')
      try {
        const guard = { guard: 'own_pages', credential: 'session' } as const
        request.viewer = await admit({ people: this.#people, origin: this.#origin }, request, guard)
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'auth.required') throw error
        await leave(reply, page)
      }
    }
  }

  async #leadBack(reply: FastifyReply, { viewer }: Acting, notice: AccountNotice, target: string): Promise<FastifyReply> {
    reply.header('set-cookie', await this.#notices.give(notice, viewer.sessionId))
    return await leave(reply, target)
  }
}

function leave(reply: FastifyReply, target: string): FastifyReply {
  return reply.redirect(target, 303)
}

/** What a form led to. An error of the interface is said on the page; any other is an error of the route. */
async function outcomeOf(
  form: AccountForm,
  fields: FormFields,
  change: () => Promise<AccountNotice | null>,
): Promise<AccountNotice> {
  try {
    return (await change()) ?? { kind: 'done', form }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, message } = error
    const refused = { kind: 'refused', form, code, message } as const
    return form === 'token' ? { ...refused, values: valuesOf(fields) } : refused
  }
}

/** Characters of a refused field that the form shows again. */
const VALUE_CHARACTERS = 200

function valuesOf({ address = '', label = '', days = '' }: FormFields) {
  const cut = (text: string) => [...text].slice(0, VALUE_CHARACTERS).join('').toWellFormed()
  return { address: cut(address), label: cut(label), days: cut(days) }
}

async function createToken({ account, acting, fields }: Sent): Promise<AccountNotice> {
  const { address = '', label = '', days = '' } = fields
  const asked = TokenRequest.safeParse({
    address: address.trim().replace(/^gh\//, '/gh/'),
    label: label.trim(),
    expiresInDays: /^\d{1,4}$/.test(days) ? Number(days) : 0,
  })
  if (!asked.success) throw new ServiceError('token.invalid')
  const { token, item } = await account.createToken(acting, asked.data)
  return { kind: 'token_created', token, address: item.address, label: item.label, expiresAt: item.expiresAt }
}

/** Stands for all sessions but that of the request, in place of the id of one. */
const OTHERS = 'others'

async function endSession({ account, acting, id }: Sent): Promise<null> {
  const ids = id === OTHERS ? (await account.sessions(acting)).filter(({ isCurrent }) => !isCurrent).map(one => one.id) : [id]
  for (const one of ids) await account.endSession(acting, one)
  return null
}

function actingOf(request: FastifyRequest): Acting {
  const { viewer } = request
  if (viewer.kind !== 'person') throw new ServiceError('auth.required')
  return { viewer, origin: originOf(request) }
}

/** A new token is shown at the top of the page. */
function partOf({ kind }: AccountNotice, part: string): string {
  return kind === 'token_created' ? '' : part
}

function withLanguage(path: string, { lang }: FormFields): string {
  if (lang === undefined || !/^[a-z]{2}$/.test(lang)) return path
  return `${path}${path.includes('?') ? '&' : '?'}lang=${lang}`
}

/** Where a decision leads, checked once more: no browser may be led to a script or a file. @throws ServiceError */
function requireTarget(redirect: string): string {
  if (parseRedirectUri(redirect.split('?', 1)[0] ?? '') === null) throw new ServiceError('oauth.invalid_request')
  return redirect
}
