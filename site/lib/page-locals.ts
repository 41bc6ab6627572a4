import type { IncomingHttpHeaders } from 'node:http'
import { parsePreferences, weightOf, weightOfType } from '#core/accept.ts'
import { ERROR_STATUS, ServiceError } from '#core/errors.ts'
import { chooseLanguage } from '#core/page-language.ts'
import { type Ui, uiFor } from './ui.ts'
import { stranger } from './visitor.ts'

/** A request of a page, before any router decoded it. */
export interface PageTarget {
  /** Path and query, as the router has them. */
  url: string
  /** Path and query, as they were sent. */
  here: string
  headers: IncomingHttpHeaders
  rawAddress: string
  id: string
}

type Given =
  | 'client'
  | 'versions'
  | 'allSkills'
  | 'renderText'
  | 'skillText'
  | 'baseUrl'
  | 'hasPictures'
  | 'hosts'
  | 'hostUrls'
  | 'localSource'
  | 'legalKinds'
  | 'listLocal'
  | 'listed'
/** What the service knows beside the request. */
export type PageOptions = Pick<App.Locals, Given> &
  Partial<Pick<App.Locals, 'isMarkdown' | 'onRendered' | 'visitor' | 'failure' | 'network' | 'inTurn'>>

/** What a page is given, from a request. */
export function createLocals({ url, here, headers, rawAddress, id }: PageTarget, options: PageOptions): App.Locals {
  const {
    client,
    versions,
    allSkills,
    renderText,
    skillText,
    baseUrl,
    hasPictures,
    hosts,
    hostUrls,
    localSource,
    legalKinds,
    listLocal,
    listed,
  } = options
  const query = queryOf(url)
  const isMarkdown = options.isMarkdown || query.get('format') === 'markdown' || wantsMarkdown(headers.accept ?? '')
  const isSent = query.get('format') === 'sent'
  query.delete('format')
  const ui = uiOf(query, headers)
  query.delete('lang')
  const locals: App.Locals = {
    rawAddress,
    query,
    acceptLanguage: headers['accept-language'] ?? '',
    acceptEncoding: String(headers['accept-encoding'] ?? ''),
    isMarkdown,
    isSent,
    onRendered: options.onRendered ?? null,
    isPartial: false,
    requestId: id,
    visitor: options.visitor ?? stranger(here),
    failure: options.failure ?? null,
    network: options.network ?? '',
    inTurn: options.inTurn ?? (task => task()),
    client,
    versions: {
      ...versions,
      changesIfIndexed: (...asked) =>
        versions.changesIfIndexed(...asked).catch(error => {
          if (!isRefusal(error)) locals.isPartial = true
          throw error
        }),
    },
    // A page without its list is shown, and not kept.
    allSkills: address =>
      allSkills(address).catch(() => {
        locals.isPartial = true
        return null
      }),
    ui,
    renderText,
    skillText,
    baseUrl,
    hasPictures,
    hosts,
    hostUrls,
    localSource,
    legalKinds,
    listLocal,
    listed,
  }
  return locals
}

/** Whether an answer stays the same: a comparison of a folder that an older version lacks. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && ERROR_STATUS[error.code] < 500
}

export function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(url.replace(/^[^?]*\??/, ''))
}

export function uiOf(query: URLSearchParams, headers: IncomingHttpHeaders): Ui {
  return uiFor(chooseLanguage(query.get('lang'), headers['accept-language'] ?? ''))
}

/**
 * Whether a header `accept` names Markdown and wants HTML less. Where both have the same weight, the first one counts: browsers name HTML, agents that
 * want Markdown name it first.
 */
export function wantsMarkdown(accept: string): boolean {
  const preferences = parsePreferences(accept)
  const [markdown = 0, html] = [weightOf(preferences, ['text/markdown']), weightOfType(preferences, 'text/html')]
  if (markdown === 0 || markdown !== html) return markdown > html
  return preferences.find(({ value }) => value === 'text/markdown' || value === 'text/html')?.value === 'text/markdown'
}

/** A failure of a navigation: of a sign-in, or of a form. */
export interface Failure {
  status: number
  /** `sign_in.failed`, `sign_in.unavailable`, `forget.pending`, or a code of `core/errors.ts`. */
  code: string
  message: string
  /** Of an error of the interface that has several. */
  reason?: 'empty' | 'damaged'
  retryAfterSeconds: number | null
}
