import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { startService } from '#test/support/service.ts'

const ROOT = join(import.meta.dirname, '..', '..')

const Rules = z.strictObject({
  about: z.string(),
  rules: z.array(
    z.discriminatedUnion('reach', [
      z.strictObject({ path: z.string(), reach: z.literal('nobody'), why: z.string() }),
      z.strictObject({
        path: z.string(),
        reach: z.literal('everyone'),
        keep: z.enum(['never', 'as-origin']),
        key: z.union([z.tuple([z.literal('path')]), z.tuple([z.literal('path'), z.literal('query')])]).optional(),
        methods: z.array(z.string()).optional(),
        why: z.string(),
      }),
    ]),
  ),
})

test('the cache rules of the CDN allow only what the service declares cacheable', async () => {
  const { rules } = Rules.parse(JSON.parse(await readFile(join(ROOT, 'infra', 'deploy', 'cdn.json'), 'utf8')))
  const operator = await mkdtemp(join(tmpdir(), 'mountglass-operator-'))
  onTestFinished(() => rm(operator, { recursive: true, force: true }))
  const address = '/local/mountglass/handbook'
  await writeFile(join(operator, 'featured.yaml'), `- address: ${address}\n  image: cover.png\n`)
  await writeFile(join(operator, 'cover.png'), onePixel())
  const service = await startService({ MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_OPERATOR: operator })
  onTestFinished(() => service.stop())
  const { commit, image } = await service.get('mounts', address)
  const [asset] = await readdir(join(ROOT, 'dist', 'client', '_a'))
  const index = await fetch(`${service.baseUrl}${address}/.well-known/agent-skills/index.json`)
  const { skills } = (await index.json()) as { skills: { url: string }[] }
  const paths = [
    '/metrics',
    '/readyz',
    '/healthz',
    `/api/v1/mounts${address}`,
    '/api/v1/featured',
    '/hooks/github',
    `/git${address}/raw/${commit}/README.md`,
    new URL(image ?? '').pathname,
    `/_a/${asset}`,
    '/icon.svg',
    '/favicon.ico',
    `/badge${address}`,
    `/icon${address}`,
    `/picture${address}`,
    `/social${address}`,
    `/social${address}?lang=de`,
    `/mcp${address}`,
    '/auth/start',
    '/oauth/authorize',
    '/account',
    '/llms.txt',
    `${address}/llms.txt`,
    `${address}/.well-known/skills/index.json`,
    new URL(skills[0]?.url ?? '', service.baseUrl).pathname,
    '/docs',
    '/',
    address,
    '/nothing/there',
  ]
  const isOf = (pattern: string, path: string) =>
    pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern
  const met = new Set<string>()
  const kept = new Set<string>()
  for (const path of paths) {
    const rule = rules.find(({ path: pattern }) => isOf(pattern, path.split('?', 1)[0] ?? ''))
    expect(rule, path).toBeDefined()
    met.add(rule?.path ?? '')
    const answer = await fetch(`${service.baseUrl}${path}`)
    const cacheControl = answer.headers.get('cache-control') ?? ''
    const mayKeep = /^public, max-age=\d+/.test(cacheControl)
    if (mayKeep) {
      expect(rule, `${path}: ${cacheControl}`).toMatchObject({ reach: 'everyone', keep: 'as-origin' })
      kept.add(rule?.path ?? '')
      expect(answer.headers.get('vary') ?? '', path).not.toMatch(/cookie|authorization|\*/i)
    } else expect(cacheControl, path).toMatch(/^(no-store|private)/)
    expect(answer.headers.get('set-cookie'), path).toBeNull()
  }
  expect(rules.map(({ path }) => path).filter(path => !met.has(path))).toEqual([])
  // The reference repository has no account, and so no icon.
  const keeping = rules.filter(rule => rule.reach === 'everyone' && rule.keep === 'as-origin').map(({ path }) => path)
  expect(keeping.filter(path => !kept.has(path))).toEqual(['/icon/*'])
})

function onePixel(): Uint8Array {
  const chunk = (type: string, data: Uint8Array) => {
    const head = Buffer.alloc(8)
    head.writeUInt32BE(data.length)
    head.write(type, 4, 'latin1')
    const sum = Buffer.alloc(4)
    sum.writeUInt32BE(crc32(Buffer.concat([head.subarray(4), data])))
    return Buffer.concat([head, data, sum])
  }
  const size = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', size),
    chunk('IDAT', deflateSync(Buffer.from([0, 0]))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
