import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildApp } from '#api/app.ts'
import type { Deps } from '#api/deps.ts'
import { skillTextOf } from '#api/mcp/sent-text.ts'
import { createLogRedaction } from '#api/people/log-redaction.ts'
import { TOOL_BYTES } from '#core/limits.ts'
import type { ListedRepositories } from '#core/listed-repositories.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import type { RendererOptions } from '#site/lib/render-pool.ts'
import type { PeopleOfPages } from '#site/lib/visitor.ts'
import { type SiteOptions, sitePlugin } from '#site/server.ts'
import { PATIENT_RENDERING } from '#test/support/patient.ts'
import { type Answers, answering } from './answers.ts'
import { ensureBuilt } from './built-site.ts'

export interface SitePage {
  status: number
  /** The words beside the status. */
  reason: string
  headers: Record<string, string | string[] | undefined>
  html: string
  /** As sent, perhaps compressed. */
  bytes: Buffer
}

export interface Site {
  origin: string
  /** The target goes over the wire exactly as written. */
  get(target: string, method?: 'GET' | 'HEAD' | 'POST', headers?: Record<string, string>): Promise<SitePage>
  close(): Promise<void>
}

export interface SiteSettings {
  hosts?: readonly string[]
  baseUrl?: string
  hostUrls?: Record<string, string>
  hasPictures?: boolean
  listLocal?: () => Promise<readonly string[]>
  listed?: ListedRepositories
  /** Default: patient. */
  rendering?: RendererOptions
  /** Default: what the answers tell. */
  versions?: NonNullable<SiteOptions['versions']>
  /** Default: those that the answers list. */
  skills?: NonNullable<SiteOptions['skills']>
  /** Default: nobody signs in. */
  people?: PeopleOfPages
}

/** The built site in the service's own Fastify instance on a free port of the loopback, over an API that gives these answers. */
export async function openSite(
  answers: Answers,
  { hosts = ['local'], baseUrl = 'https://mountglass.example', hostUrls = {}, rendering, ...settings }: SiteSettings = {},
): Promise<Site> {
  await ensureBuilt()
  const client = createApiClient(answering(answers))
  const app = await buildApp(UNASKED, { baseUrl }, async instance => {
    await sitePlugin(instance, {
      client,
      hosts,
      baseUrl,
      skillText: skillTextOf(TOOL_BYTES.default),
      hostUrls,
      ...settings,
      rendering: { ...PATIENT_RENDERING, ...rendering },
    })
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    get: (target, method = 'GET', headers = {}) => getRaw(port, target, method, headers),
    close: () => app.close(),
  }
}

/** The pages reach data through their client alone, so nothing behind the API may be asked. */
const names = createLogRedaction(new Uint8Array(32))
const hidden = { close: async () => {} }
const UNASKED: Deps = new Proxy({ hosts: [], people: null, oauth: null, names, hidden } as unknown as Deps, {
  get(target, name) {
    if (name in target) return Reflect.get(target, name) as unknown
    throw new Error(`the site asked the API for ${String(name)} past its client`)
  },
})

/** `fetch` normalises a URL, so this writes the request target as it is. */
function getRaw(port: number, path: string, method: string, headers: Record<string, string>): Promise<SitePage> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          reason: response.statusMessage ?? '',
          headers: response.headers,
          html: Buffer.concat(chunks).toString('utf8'),
          bytes: Buffer.concat(chunks),
        }),
      )
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end()
  })
}
