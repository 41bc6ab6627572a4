/// <reference types="astro/client" />

declare namespace App {
  /** The locals that `site/server.ts` gives every page. */
  interface Locals {
    /** The address as in the request, percent-encoded, without the query; `''` on pages without an address. */
    rawAddress: string
    /** The query of the request. */
    query: URLSearchParams
    requestId: string
    client: import('./lib/api-client.ts').ApiClient
    /** Public origin without a trailing slash. */
    baseUrl: string
    /** Host segments that this deployment serves. */
    hosts: readonly string[]
  }
}
