import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Mount } from '#core/contract/mount.ts'
import { encodePath } from '#core/repo-path.ts'
import type { Deps } from '../deps.ts'
import { subjectParsers } from '../http/endpoint.ts'
import { declareBelow, declarePrefix } from '../http/raw-target.ts'
import { allowAnyOrigin } from '../http/response-headers.ts'
import { answerFromMount, type OpenMount } from '../mount/open-mount.ts'
import { listPackages } from '../reading/packages.ts'
import type { AddressHandlers } from './address-endpoints.ts'

const NAME = '/llms.txt'

/** `/llms.txt` and `/<address>/llms.txt`: what is here, and how an agent reads it. */
export function registerLlms(
  app: FastifyInstance,
  deps: Deps,
  { mounts }: Pick<AddressHandlers, 'mounts'>,
  baseUrl: string,
): void {
  const { address } = subjectParsers(deps)
  app.register(async instance => {
    allowAnyOrigin(instance)
    instance.get(NAME, { schema: { hide: true } }, async (_request, reply) =>
      send(reply, serviceText(baseUrl), 'public, max-age=3600'),
    )
    for (const { segment } of deps.hosts) {
      const prefix = declarePrefix(instance, `/${segment}`, { isPartOfAddress: true })
      instance.get(
        `${prefix}${declareBelow(instance, NAME)}`,
        { schema: { hide: true } },
        async ({ rawAddress, viewer }, reply) => {
          const subject = address(rawAddress ?? '')
          const mount = await mounts({ subject, query: {}, body: null, viewer })
          // Clients that install skills send no token.
          const isOpen = mount.index.status === 'ready' && mount.repository.visibility === 'public'
          const isInstallable = isOpen && (await answerFromMount(deps, { viewer, subject }, hasPackages))
          const cacheControl = mount.index.status === 'ready' ? 'public, max-age=60' : 'no-store'
          return send(reply, addressText(mount, baseUrl, isInstallable), cacheControl)
        },
      )
    }
  })
}

async function hasPackages(mount: OpenMount): Promise<boolean> {
  return mount.status === 'ready' && (await listPackages(mount.snapshot, mount.address.path, { limit: 1 })).length > 0
}

function send(reply: FastifyReply, text: string, cacheControl: string): FastifyReply {
  return reply.headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': cacheControl }).send(text)
}

const DESCRIPTION_CHARACTERS = 200

/** What an agent finds at this service, in the form of llms.txt. */
function serviceText(baseUrl: string): string {
  return lines(
    '# Mountglass',
    '',
    '> Shows what an agent receives from an address that points into a git repository: its skills with the rules that apply to them, its documents and its files, at one commit.',
    '',
    'An address is `<host>/<owner>/<repository>`, with `@<branch, tag or commit>` and a folder behind it where needed: `gh/<owner>/<repository>@main/skills`.',
    '',
    '## For agents',
    '',
    `- ${baseUrl}/mcp/<address>: an MCP server for one address. ${baseUrl}/mcp: one whose tools take the address.`,
    `- ${baseUrl}/<address>/llms.txt: what is at an address.`,
    `- ${baseUrl}/<address>/.well-known/agent-skills/index.json: its skills, to be installed: \`${installCommand(`${baseUrl}/<address>`)}\`.`,
    '',
    '## Optional',
    '',
    `- [REST interface](${baseUrl}/api/v1/openapi.json): everything above as JSON.`,
  )
}

/**
 * What is at an address, in the form of llms.txt. Texts of the repository stand in list entries and in the quotation, each on one line.
 *
 * @param isInstallable whether clients can install a skill of the address
 */
function addressText({ address, commit, index }: Mount, baseUrl: string, isInstallable: boolean): string {
  const heading = [`# ${address.slice(1)}`, '']
  const agents = [
    '',
    '## For agents',
    '',
    `- MCP server: ${baseUrl}/mcp${address}`,
    ...(isInstallable ? [`- Skills, to be installed: \`${installCommand(`${baseUrl}${address}`)}\``] : []),
    `- REST: ${baseUrl}/api/v1/browse${address} lists folders, \`/find${address}?query=\` searches, \`/skills${address}?path=\` reads a skill with its rules.`,
  ]
  if (index.status !== 'ready') {
    const state = index.status === 'indexing' ? 'is being read: ask again in a second' : `could not be read (${index.errorCode})`
    return lines(...heading, `> The repository ${state}.`, ...agents)
  }
  const { counts, skills, documents, manifest } = index
  const about = manifest === undefined ? '' : ` ${inline(manifest.name)}: ${inline(manifest.description)}`
  const pathOf = (route: string, path: string) => `${baseUrl}/api/v1/${route}${address}?path=${encodePath(path)}`
  return lines(
    ...heading,
    `> ${numberOf(counts.skills, 'skill')} and ${numberOf(counts.documents, 'document')} at commit ${commit}.${about}`,
    '',
    'Names and descriptions below are those of the authors of the repository.',
    ...agents,
    ...(skills.length === 0 ? [] : ['', '## Skills', '']),
    ...skills.map(({ name, path, description }) => `- [${inline(name)}](${pathOf('skills', path)}): ${inline(description)}`),
    ...moreThan(skills.length, counts.skills, 'skill'),
    ...(documents.length === 0 ? [] : ['', '## Documents', '']),
    ...documents.map(({ title, path, summary }) => `- [${inline(title)}](${pathOf('files', path)}): ${inline(summary)}`),
    ...moreThan(documents.length, counts.documents, 'document'),
  )
}

/** For an agent, which answers no question whether npx may fetch the program. */
function installCommand(url: string): string {
  return `npx --yes skills add ${url}`
}

function moreThan(listed: number, all: number, what: string): string[] {
  return all > listed ? [`- And ${numberOf(all - listed, what)} more: search, or list the folders.`] : []
}

/** Text of a repository, without what would end its place in a line of Markdown. */
function inline(text: string): string {
  const line = text.replace(/[[\]<>`\s]+/g, ' ').trim()
  const characters = [...line]
  return characters.length > DESCRIPTION_CHARACTERS ? `${characters.slice(0, DESCRIPTION_CHARACTERS).join('')}…` : line
}

function numberOf(number: number, thing: string): string {
  return `${number.toLocaleString('en')} ${thing}${number === 1 ? '' : 's'}`
}

function lines(...all: readonly string[]): string {
  return `${all.join('\n')}\n`
}
