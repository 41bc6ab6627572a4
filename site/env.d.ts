/// <reference types="astro/client" />

declare namespace App {
  /** What `site/server.ts` hands to every page. */
  interface Locals {
    /** The address as it stood in the request, still percent-encoded, without the query; `''` on pages that have none. */
    rawAddress: string
    /** The query of the request, as it was sent. */
    query: URLSearchParams
    requestId: string
    client: import('./lib/api-client.ts').ApiClient
    /** Public origin without a trailing slash. */
    baseUrl: string
    /** Host segments that this deployment serves. */
    hosts: readonly string[]
  }
}
