/// <reference types="astro/client" />

declare namespace App {
  /** The locals that `site/server.ts` gives every page. */
  interface Locals {
    /** The address as in the request, percent-encoded, without the query; `''` on pages without an address. */
    rawAddress: string
    /** The query of the request, without the parameters `lang` and `format`. */
    query: URLSearchParams
    /** The header of the request; `''` without one. */
    acceptEncoding: string
    /** The header of the request; `''` without one. */
    acceptLanguage: string
    /** The pages that the operator wrote. */
    legalKinds: readonly import('#core/contract/legal.ts').LegalKind[]
    /** The addresses of the operator's own repositories that everyone may open, as of now. */
    listLocal: () => Promise<readonly string[]>
    /** What lists that are the same for everyone say of repositories. */
    listed: import('#core/listed-repositories.ts').ListedRepositories
    /** What counts as one client, to which this request belongs; `''` where it is not known. */
    network: string
    /** Does expensive work once it is the client's turn. @throws GateFull when too much of the client waits */
    inTurn: <Value>(task: () => Promise<Value>) => Promise<Value>
    /** The page is asked for as Markdown. */
    isMarkdown: boolean
    /** The texts of a skill are asked for as they are sent, to be copied. */
    isSent: boolean
    /** Receives the whole page before it is sent, if it may be kept. */
    onRendered: ((page: import('./lib/page-cache.ts').SentPage) => void) | null
    /** A component sets it where the page lacks something that a later one may have. */
    isPartial: boolean
    requestId: string
    visitor: import('./lib/visitor.ts').Visitor
    /** Why the page of a failure is shown; `null` on other pages. */
    failure: import('./lib/page-locals.ts').Failure | null
    client: import('./lib/api-client.ts').ApiClient
    versions: import('./lib/versions.ts').Versions
    allSkills: import('./lib/overview.ts').AllSkills
    /** The language of the page. */
    ui: import('./lib/ui.ts').Ui
    /** Renders Markdown outside the event loop. */
    renderText: import('./lib/render-pool.ts').TextRenderer['render']
    /** `null`: a skill is not copied whole. */
    skillText: import('./lib/sent-text.ts').SkillTextOf | null
    /** Public origin without a trailing slash. */
    baseUrl: string
    /** Whether this service cuts and draws pictures; badges it has in any case. */
    hasPictures: boolean
    /** Host segments that this deployment serves. */
    hosts: readonly string[]
    hostUrls: import('./lib/links.ts').HostUrls
    localSource: import('./lib/links.ts').LocalSource
  }
}
