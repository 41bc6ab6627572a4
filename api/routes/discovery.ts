import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parsePreferences, weightOf } from '#core/accept.ts'
import { type Address, formatAddress } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import { decodeText } from '#core/text.ts'
import type { Deps } from '../deps.ts'
import { clientNetwork } from '../http/admit.ts'
import { subjectParsers } from '../http/endpoint.ts'
import { listsEtag } from '../http/entity-tag.ts'
import { answerError, errorBody, loggedError } from '../http/error-handler.ts'
import { createHoldBytes, type HoldBytes } from '../http/held-bytes.ts'
import { untilLeft } from '../http/left.ts'
import { declareBelow, declarePrefix } from '../http/raw-target.ts'
import { allowAnyOrigin } from '../http/response-headers.ts'
import { sendNotModified } from '../http/send-file.ts'
import { answerFromMount, type ReadyMount } from '../mount/open-mount.ts'
import { discoveryIndex, type NamedPackage, nameUniquely, olderIndex } from '../reading/discovery-index.ts'
import { requireReady } from '../reading/file-page.ts'
import { type Archives, createArchives, findFile, listFiles, listPackages, type SkillPackage } from '../reading/packages.ts'

const AGENT_SKILLS = '/.well-known/agent-skills/'
const OLDER_SKILLS = '/.well-known/skills/'
const INDEX = 'index.json'
const SHORTLY = 'public, max-age=60'
const FOREVER = 'public, max-age=31536000, immutable'

/** Answers a discovery path below an address, whose mount is ready. */
type Answer = (request: FastifyRequest, reply: FastifyReply, mount: ReadyMount, means: Means) => Promise<unknown>

interface Means {
  archives: Archives
  hold: HoldBytes
}

/** Of archives and files that clients are reading. */
const HELD_BYTES = 256 * 1024 * 1024

/**
 * `/<address>/.well-known/agent-skills/…` and `/<address>/.well-known/skills/…`: the skills of an address for programs that install them.
 * What is not ready yet is 404 with `retry-after`.
 */
export function registerDiscovery(app: FastifyInstance, deps: Deps): void {
  const means: Means = { archives: createArchives(), hold: createHoldBytes(HELD_BYTES) }
  const { address } = subjectParsers(deps)
  const answers: [path: string, answer: Answer][] = [
    [AGENT_SKILLS, answerAgentSkills],
    [OLDER_SKILLS, answerOlderSkills],
  ]
  app.register(async instance => {
    allowAnyOrigin(instance)
    for (const { segment } of deps.hosts) {
      const prefix = declarePrefix(instance, `/${segment}`, { isPartOfAddress: true })
      for (const [path, answer] of answers) {
        instance.get(`${prefix}${declareBelow(instance, path)}`, { schema: { hide: true } }, async (request, reply) => {
          const subject = address(request.rawAddress ?? '')
          try {
            return await answerFromMount(deps, { viewer: request.viewer, subject }, async mount => {
              return await answer(request, reply, requireReady(mount, deps.clock.now()), means)
            })
          } catch (error) {
            return answerNotFound(error, request, reply)
          }
        })
      }
    }
  })
}

/** Programs that look for an index take any other status for a fault of the host. */
function answerNotFound(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = loggedError(thrown, request)
  reply.header('cache-control', 'no-store')
  if (error.code !== 'index.indexing' && error.code !== 'index.failed') {
    answerError(error, request, reply)
    return reply
  }
  return reply
    .code(404)
    .header('retry-after', Math.ceil(error.details.retryAfter ?? 1))
    .send(errorBody(error))
}

async function answerAgentSkills(request: FastifyRequest, reply: FastifyReply, mount: ReadyMount, { archives, hold }: Means) {
  if (request.rawRest === INDEX) return sendIndex(reply, await indexOf(mount))
  const sha256 = /^archive\/([0-9a-f]{64})\.tar\.gz$/.exec(request.rawRest)?.[1]
  const named = sha256 === undefined ? [] : (await namedPackages(mount)).packages
  const found = named.find(({ package: one }) => one.archive.sha256 === sha256)
  if (found === undefined) throw new ServiceError('file.not_found')
  const headers = {
    'content-type': 'application/gzip',
    'cache-control': FOREVER,
    etag: `"${sha256}"`,
    vary: 'accept-encoding',
    'content-disposition': `attachment; filename="${found.name}.tar.gz"`,
  }
  if (listsEtag(request.headers['if-none-match'], `"${sha256}"`)) return sendNotModified(request, reply, headers)
  const turn = { client: clientNetwork(request.ip), signal: untilLeft(reply) }
  const { bytes, compressed } = await archives.build(mount.snapshot, found.package, turn)
  const isCompressed = acceptsGzip(request.headers['accept-encoding'] ?? '')
  const sent = isCompressed ? compressed : bytes
  hold(request, reply, sent.length)
  // An error has none of them.
  return reply.headers({ ...headers, ...(isCompressed && { 'content-encoding': 'gzip' }) }).send(sent)
}

async function answerOlderSkills(request: FastifyRequest, reply: FastifyReply, mount: ReadyMount, { hold }: Means) {
  if (request.rawRest === INDEX) return sendIndex(reply, await olderIndexOf(mount))
  const [, name, encoded] = /^([a-z0-9-]+)\/(.+)$/.exec(request.rawRest) ?? []
  const found = (await namedPackages(mount)).packages.find(one => one.name === name)
  const path = encoded === undefined ? null : decode(encoded)
  const file = found && path !== null ? await findFile(mount.snapshot, found.package, path) : null
  if (file === null) throw new ServiceError('file.not_found')
  const bytes = await mount.snapshot.record(file.record)
  hold(request, reply, bytes.length)
  const type = decodeText(bytes) === null ? 'application/octet-stream' : 'text/plain; charset=utf-8'
  return reply
    .headers({
      'content-type': type,
      'cache-control': SHORTLY,
      etag: `"${file.sha256}"`,
      'content-security-policy': "default-src 'none'; sandbox",
      'content-disposition': 'attachment',
    })
    .send(Buffer.from(bytes))
}

/** Whether a header `accept-encoding` names gzip, or everything, with a weight above zero. */
function acceptsGzip(header: string): boolean {
  return (weightOf(parsePreferences(header), ['gzip', 'x-gzip', '*']) ?? 0) > 0
}

function sendIndex(reply: FastifyReply, { json }: { json: string }): FastifyReply {
  return reply.headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': SHORTLY }).send(json)
}

async function namedPackages({ snapshot, address }: ReadyMount): Promise<{ packages: NamedPackage[] }> {
  return await snapshot.memo(`packages ${address.path}`, async () => ({
    packages: nameUniquely(await listPackages(snapshot, address.path)),
  }))
}

async function indexOf(mount: ReadyMount): Promise<{ json: string }> {
  const place = placeOf(mount)
  return await mount.snapshot.memo(`discovery ${place}`, async () => {
    const { packages } = await namedPackages(mount)
    const urlOf = ({ archive }: SkillPackage) => `${place}${AGENT_SKILLS}archive/${archive.sha256}.tar.gz`
    return { json: JSON.stringify(discoveryIndex(packages, urlOf)) }
  })
}

async function olderIndexOf(mount: ReadyMount): Promise<{ json: string }> {
  return await mount.snapshot.memo(`older index ${mount.address.path}`, async () => {
    const { packages } = await namedPackages(mount)
    const filesOf = async (one: SkillPackage) => (await listFiles(mount.snapshot, one)).map(file => file.name)
    return { json: JSON.stringify(await olderIndex(packages, filesOf)) }
  })
}

/** The address at its commit: an archive that an index names stays there when the branch moves on. */
function placeOf({ address, commit }: ReadyMount): string {
  const pinned: Address = { ...address, ref: commit }
  return formatAddress(pinned)
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
