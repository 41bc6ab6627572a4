import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { type AddressInfo, createServer as createPlainServer, type Socket } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { FetchTooLarge, fetchBlobs, fetchTrees } from '#infra/git/fetch.ts'
import { listRefs, type Remote } from '#infra/git/upload-pack.ts'
import { openScratch } from '#infra/git/view.ts'
import { serveRepositories } from '#test/support/served-repositories.ts'
import { until } from '#test/support/until.ts'
import { answering, packet, writersIn } from '#test/support/upload-pack-host.ts'

const served = await serveRepositories()
const { github } = served
const repository = await served.create()
const remote: Remote = { url: `${github.origins.web}/acme/${repository.name}.git`, authorization: null }
const scratch = await openScratch()
const signal = new AbortController().signal

afterAll(async () => {
  await scratch.remove()
  await served.close()
})

test('a pack that is larger than git may write is refused as too large', async () => {
  // Bytes that do not compress, the same in every run.
  const noise = Buffer.concat(Array.from({ length: 20_000 }, (_, index) => createHash('sha256').update(`${index}`).digest()))
  const commit = await repository.commit({ 'noise.md': noise })
  const options = { gitDir: scratch.gitDir, remote, signal }
  await fetchTrees(options, commit)
  const wanted = [await repository.oidAt(commit, 'noise.md')]
  const small = { cpuSeconds: 60, fileBytes: 100_000 }
  await expect(fetchBlobs({ ...options, resources: small }, wanted)).rejects.toThrow(FetchTooLarge)
  await fetchBlobs(options, wanted)
})

test('a fetch passes its process no secret and no address, and leaves none behind when it is aborted', async () => {
  const commit = await repository.commit({ a: 'a' })
  const stop = new AbortController()
  github.faults.add({ stall: true, match: { host: 'web' } })
  const authorization = `Basic ${Buffer.from('x-access-token:secret').toString('base64')}`
  const fetching = fetchTrees({ gitDir: scratch.gitDir, remote: { ...remote, authorization }, signal: stop.signal }, commit)
  fetching.catch(() => {})
  await until(() => writersIn(scratch.gitDir).length > 0)
  // What a process was started with, everyone on the machine may see of some.
  const started = execFileSync('ps', ['eww', '-o', 'args=', '-p', writersIn(scratch.gitDir).join(',')], { encoding: 'utf8' })
  expect(started).toContain('GIT_ALLOW_PROTOCOL=none')
  for (const secret of [authorization, 'secret', remote.url]) expect(started).not.toContain(secret)
  stop.abort()
  await expect(fetching).rejects.toMatchObject({ name: 'AbortError' })
  expect(writersIn(scratch.gitDir)).toEqual([])
})

describe('a host that does not send what git does', () => {
  const oid = 'a'.repeat(40)

  test.each([
    ['nothing', '', 'ended early'],
    ['no packets', '<html>', 'not in packets of git'],
    ['a packet without its end', '00ffpackfile', 'ended early'],
    ['an error', packet(`ERR upload-pack: not our ref ${oid}\n`), 'not our ref'],
    ['a long error', packet(`ERR ${'x'.repeat(60_000)}`), /^git-upload-pack: x{500}$/],
    ['another section', `${packet('packfile-uris\n')}0000`, 'instead of a pack'],
    ['no pack', `${packet('packfile\n')}${packet('\x01no pack at all')}0000`, 'index-pack failed'],
    ['a pack without its end', `${packet('packfile\n')}${packet('\x01PACK')}`, 'ended early'],
    [
      'a failure in its third band',
      `${packet('packfile\n')}${packet('\x02counting')}${packet('\x03out of memory\n')}`,
      'out of memory',
    ],
  ])('with %s gives an error', async (_, body, message) => {
    const host = await answering(body)
    try {
      const fetching = fetchTrees({ gitDir: scratch.gitDir, remote: host.remote, signal }, oid)
      await expect(fetching).rejects.toThrow(message)
      await expect(fetching).rejects.not.toThrow('c2VjcmV0')
    } finally {
      await host.close()
    }
  })

  test.each([
    ['a page', { 'content-type': 'text/html' }, 200, null],
    ['a refusal', { 'content-type': 'text/plain' }, 403, 'Access denied.'],
    ['a place elsewhere', { location: 'http://127.0.0.1:1/' }, 307, null],
  ] as const)('with %s is a refusal, and no redirect is followed', async (_, headers, status, text) => {
    const host = await answering('Access denied.', headers, status)
    const fetching = fetchTrees({ gitDir: scratch.gitDir, remote: host.remote, signal }, oid)
    await expect(fetching).rejects.toMatchObject({ name: 'RemoteRefusal', status, ...(status === 307 ? {} : { text }) })
    expect(host.requests).toHaveLength(1)
    await host.close()
  })

  test('with a refusal keeps its connection for the next question', async () => {
    const host = await answering('Repository not found.', { 'content-type': 'text/plain' }, 404)
    const list = () => listRefs({ remote: host.remote, signal }, ['HEAD'], 1_000)
    for (let times = 0; times < 3; times++) await expect(list()).rejects.toMatchObject({ status: 404 })
    expect(new Set(host.requests.map(({ socket }) => socket)).size).toBe(1)
    await host.close()
  })

  test('has the refs that the packets name, with the targets of tags', async () => {
    const [other, peeled] = ['b'.repeat(40), 'c'.repeat(40)]
    const lines = [
      `${oid} refs/heads/main\n`,
      `${oid} refs/heads/alias symref-target:refs/heads/main\n`,
      `${other} refs/tags/v1 peeled:${peeled}\n`,
      'unborn HEAD\n',
      `${other} \n`,
    ]
    const host = await answering(`${lines.map(packet).join('')}0000`)
    expect(await listRefs({ remote: host.remote, signal }, ['refs/'], 10_000)).toEqual([
      { name: 'refs/heads/main', oid },
      { name: 'refs/heads/alias', oid },
      { name: 'refs/tags/v1', oid: peeled },
    ])
    await expect(listRefs({ remote: host.remote, signal }, ['refs/'], 100)).rejects.toThrow('too many refs')
    await host.close()
  })

  test.each([
    ['nothing', ''],
    ['some of them', packet(`${oid} refs/heads/main\n`)],
    ['a part of a packet', `${packet(`${oid} refs/heads/main\n`)}00`],
  ])('whose refs end with %s gives an error, and no list', async (_, body) => {
    const host = await answering(body)
    await expect(listRefs({ remote: host.remote, signal }, ['refs/'], 10_000)).rejects.toThrow('ended early')
    await host.close()
  })

  /** Answers the first bytes of every connection so, whatever they are, and goes on to hold it. */
  async function holding(answer: string) {
    const sockets = new Set<Socket>()
    const server = createPlainServer(socket => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      socket.on('error', () => {}).once('data', () => socket.write(answer))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/acme/tools.git`
    const close = async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    }
    return { remote: { url, authorization: null }, sockets, close }
  }

  test.each([
    ['another protocol', '101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x', 'ends the connection'],
    ['a page that does not end', '500 Trouble\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked', 'answers 500'],
    ['a text that does not end', '500 Trouble\r\nContent-Type: text/plain\r\nContent-Length: 99\r\n\r\nNo', 'answers 500'],
  ])('with %s ends the request, and the connection', async (_, answer, message) => {
    const host = await holding(`HTTP/1.1 ${answer}\r\n\r\n`)
    await expect(listRefs({ remote: host.remote, signal }, ['refs/'], 10_000)).rejects.toThrow(message)
    await until(() => host.sockets.size === 0)
    await host.close()
  })

  test('with a connection closed on reuse gets a new one', async () => {
    const host = await answering(`${packet(`${oid} HEAD\n`)}0000`)
    const list = () => listRefs({ remote: host.remote, signal }, ['HEAD'], 1_000)
    await list()
    host.closing = true
    expect(await list()).toEqual([{ name: 'HEAD', oid }])
    expect(host.requests).toHaveLength(3)
    await host.close()
  })
})
