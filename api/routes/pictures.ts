import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { OwnerName } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { countsInMount } from '#core/snapshot/format.ts'
import type { Deps } from '../deps.ts'
import { clientNetwork } from '../http/admit.ts'
import { answerPlainly, setEmbeddedHeaders } from '../http/embedded.ts'
import { subjectParsers } from '../http/endpoint.ts'
import { declarePrefix } from '../http/raw-target.ts'
import { sendBytes } from '../http/send-file.ts'
import { answerFromMount, type OpenMount, requireValue } from '../mount/open-mount.ts'
import { canonicalTag } from '../operator/language-tag.ts'
import { ANONYMOUS } from '../people/viewer.ts'
import { type BadgeState, drawBadge } from '../pictures/badge.ts'
import type { CardModel } from '../pictures/card.ts'
import { cardOf, docsCard } from '../pictures/card-of.ts'
import { parseAcceptLanguage, primaryOf } from '../pictures/card-words.ts'
import { createCards, createDrawer, type DrawerOptions } from '../pictures/cards.ts'
import { type CutterOptions, createCutter } from '../pictures/cutter.ts'
import { createIcons, type Icon, type Icons, type PicturedAccount } from '../pictures/icons.ts'
import { createMountPictures } from '../pictures/mount-pictures.ts'

/** Of the processes that decode and draw. Default: the programs beside this module. */
export interface PictureOptions {
  cutter?: CutterOptions
  drawer?: DrawerOptions
}

/** A page of the documentation, as its card shows it. */
export interface DocsPage {
  /** `''` is the first page. */
  slug: string
  /** By language, English among them: its name, and what it is part of. */
  texts: Readonly<Record<string, { label: string; section: string }>>
}

/** When a card that cannot be drawn now is asked for again. */
const BUSY_RETRY_SECONDS = 2

/**
 * The badge of an address, for pages of any origin, and its pictures. They are the same for everyone: cookies and credentials are not looked
 * at, and what is not public does not exist.
 *
 * @param docs pages of the documentation; `null` for a deployment without pages, whose links have no cards
 * @param options `null`: this service has badges alone
 */
export function registerPictures(
  app: FastifyInstance,
  deps: Deps,
  docs: readonly DocsPage[] | null,
  options: PictureOptions | null = {},
): void {
  const { address } = subjectParsers(deps)
  const fromMount: FromMount = ({ rawAddress }, answer) =>
    answerFromMount(deps, { viewer: ANONYMOUS, subject: address(rawAddress ?? '') }, answer)
  const routes: Record<string, Answer> = {
    '/badge': (request, reply) => sendBadge(request, reply, fromMount),
    ...(options === null ? NO_PICTURES : pictureRoutes(app, deps, docs, { options, fromMount })),
  }
  app.register(async instance => {
    instance.addHook('onRequest', setEmbeddedHeaders)
    instance.setErrorHandler(answerPlainly)
    for (const [prefix, answer] of Object.entries(routes))
      instance.get(declarePrefix(instance, prefix), { schema: { hide: true } }, answer)
  })
}

type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
type FromMount = <Result>(request: FastifyRequest, answer: (mount: OpenMount) => Promise<Result>) => Promise<Result>

const refuse: Answer = async () => {
  throw new ServiceError('request.not_found')
}
const NO_PICTURES = { '/icon': refuse, '/picture': refuse, '/social': refuse }

async function sendBadge(request: FastifyRequest, reply: FastifyReply, fromMount: FromMount): Promise<FastifyReply> {
  const state = await fromMount(request, async mount => badgeStateOf(mount))
  const cache = state.status === 'ready' ? 'public, max-age=3600' : 'public, max-age=60'
  const headers = { 'content-type': 'image/svg+xml; charset=utf-8', 'cache-control': cache }
  const bytes = Buffer.from(drawBadge(state))
  return await sendBytes(request, reply, bytes, { etag: `"${hash('sha256', bytes).slice(0, 32)}"`, headers })
}

/** The routes of pictures that are decoded or drawn. */
function pictureRoutes(
  app: FastifyInstance,
  deps: Deps,
  docs: readonly DocsPage[] | null,
  { options, fromMount }: { options: PictureOptions; fromMount: FromMount },
): Record<keyof typeof NO_PICTURES, Answer> {
  const { owner } = subjectParsers(deps)
  const onFailure = (error: unknown) => deps.fallbacks?.note('pictures', error)
  const cutter = createCutter({ onFailure, ...options.cutter })
  const drawer = createDrawer({ onFailure, ...options.drawer })
  app.addHook('onClose', async () => void (await Promise.all([cutter.close(), drawer.close()])))
  const icons = createIcons(cutter)
  const cards = createCards(drawer)
  const pictures = createMountPictures(deps, cutter)
  const iconOf = async ({ host, repository }: OpenMount, client: string): Promise<Icon | null> => {
    const account = picturedOwnerOf(repository)
    return account && (await icons.get(host, account, client))
  }
  const sendIcon: Answer = async (request, reply) => {
    const icon = await fromMount(request, mount => iconOf(mount, clientOf(request)))
    if (icon === null) throw new ServiceError('file.not_found')
    const headers = { 'content-type': icon.type, 'cache-control': 'public, max-age=86400' }
    return await sendBytes(request, reply, icon.bytes, { etag: `"${icon.etag}"`, headers })
  }
  const sendPicture: Answer = async (request, reply) => {
    const [, account] = /^owners(\/.*)$/s.exec(request.rawAddress ?? '') ?? []
    const picture =
      account === undefined
        ? await fromMount(request, mount => pictures.get(mount, clientOf(request)))
        : await accountIcon(deps, icons, owner(account), clientOf(request))
    if (picture === null) throw new ServiceError('file.not_found')
    const headers = { 'content-type': picture.type, 'cache-control': 'public, max-age=3600' }
    return await sendBytes(request, reply, picture.bytes, { etag: `"${picture.etag}"`, headers })
  }
  const sendSocial: Answer = async (request, reply) => {
    if (docs === null) throw new ServiceError('request.not_found')
    const raw = request.rawAddress ?? ''
    if (raw === 'docs' || raw.startsWith('docs/'))
      return await sendCard(request, reply, docsCardAt(docs, raw, wantedLanguages(request)), null)
    const asked = { skill: parameterOf(request, 'skill'), wanted: wantedLanguages(request) }
    const { card, icon } = await fromMount(request, async mount => {
      const [card, icon] = await Promise.all([cardOf(deps, mount, asked), iconOf(mount, clientOf(request))])
      return { card, icon }
    })
    return await sendCard(request, reply, card, icon)
  }

  async function sendCard(request: FastifyRequest, reply: FastifyReply, card: CardModel, icon: Icon | null) {
    const drawn = await cards.get(card, icon, clientOf(request))
    if (drawn === 'busy') throw new ServiceError('mount.unavailable', { retryAfter: BUSY_RETRY_SECONDS })
    const vary = parameterOf(request, 'lang') === null ? { vary: 'accept-language' } : {}
    const headers = { 'content-type': 'image/png', 'cache-control': 'public, max-age=3600', ...vary }
    return await sendBytes(request, reply, drawn.png, { etag: `"${drawn.etag}"`, headers })
  }

  return { '/icon': sendIcon, '/picture': sendPicture, '/social': sendSocial }
}

/** The picture of an account, whether it has repositories or not. */
async function accountIcon(
  { hosts }: Deps,
  icons: Icons,
  { host: segment, owner: login }: OwnerName,
  client: string,
): Promise<Icon | null> {
  const host = hosts.find(one => one.segment === segment)
  const answer = await host?.accounts?.account(login)
  if (host === undefined || answer === undefined) return null
  const { id, avatar } = requireValue(answer, 'owner.not_found')
  return avatar === null ? null : await icons.get(host, { id, avatar }, client)
}

function clientOf({ ip }: FastifyRequest): string {
  return clientNetwork(ip)
}

/** @throws ServiceError `request.not_found` */
function docsCardAt(docs: readonly DocsPage[], raw: string, wanted: readonly string[]): CardModel {
  const page = docs.find(({ slug }) => raw === (slug === '' ? 'docs' : `docs/${slug}`))
  const lang = [...wanted, 'en'].map(primaryOf).find(tag => page !== undefined && Object.hasOwn(page.texts, tag))
  const text = lang === undefined ? undefined : page?.texts[lang]
  if (lang === undefined || text === undefined) throw new ServiceError('request.not_found')
  return docsCard({ lang, path: `/${raw}`, title: text.label, section: text.section })
}

/** By the parameter `lang`, else by the header. A parameter that is no language tag wants none. */
function wantedLanguages(request: FastifyRequest): string[] {
  const lang = parameterOf(request, 'lang')
  if (lang === null) return parseAcceptLanguage(request.headers['accept-language'] ?? '')
  const tag = canonicalTag(lang)
  return tag === null ? [] : [tag]
}

/** A parameter of the query; of a repeated one, the first. Other parameters are ignored: pages that embed pictures add them to get past caches. */
function parameterOf({ query }: FastifyRequest, name: 'lang' | 'skill'): string | null {
  const value = (query as Record<string, string | string[] | undefined>)[name]
  return (Array.isArray(value) ? value[0] : value) ?? null
}

function picturedOwnerOf({ ownerId, avatar }: HostRepository): PicturedAccount | null {
  return ownerId === undefined || avatar === null ? null : { id: ownerId, avatar }
}

function badgeStateOf(mount: OpenMount): BadgeState {
  if (mount.status !== 'ready') return { status: mount.status }
  return { status: 'ready', skills: countsInMount(mount.address.path, mount.folder).skills }
}
