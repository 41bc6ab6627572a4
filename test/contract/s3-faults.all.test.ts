import { randomUUID } from 'node:crypto'
import { describe, expect, type TestContext, test } from 'vitest'
import type { WriteOutcome } from '#core/ports/state-store.ts'
import { openS3Stores, type S3Stores } from '#infra/s3/open.ts'
import { StoreError } from '#infra/s3/store-error.ts'
import { type Fault, type FaultyProxy, type ProxiedRequest, startFaultyProxy } from '#test/support/servers/faulty-proxy.ts'
import { s3Settings } from '#test/support/servers/s3.ts'
import { hasServer } from '#test/support/servers/servers.ts'
import { bytesOf } from '#test/support/store-values.ts'

const LOST: Fault = { kind: 'answer lost' }
const RESET: Fault = { kind: 'reset' }
const BUSY: Fault = { kind: 'answered', status: 503, body: '<Error><Code>SlowDown</Code></Error>' }
const isWrite = ({ method }: ProxiedRequest) => method === 'PUT'

/** The stores of one place, reached through a proxy, and without it. */
interface Scene extends S3Stores {
  proxy: FaultyProxy
  direct: S3Stores
  /** Before every key. */
  prefix: string
  /** What befalls the next requests of a kind, one after the other. */
  next(faults: readonly (Fault | null)[], isMeant?: (request: ProxiedRequest) => boolean): void
}

async function openScene({ onTestFinished }: TestContext, more: { answerMs?: number } = {}): Promise<Scene> {
  const settings = { ...(await s3Settings()), prefix: randomUUID(), ...more }
  const proxy = await startFaultyProxy(settings.endpoint ?? '')
  onTestFinished(() => proxy.close())
  const [direct, stores] = [await openS3Stores(settings), await openS3Stores({ ...settings, endpoint: proxy.url })]
  onTestFinished(() => Promise.all([direct.close(), stores.close()]).then(() => {}))
  return {
    ...stores,
    direct,
    proxy,
    prefix: settings.prefix,
    next(faults, isMeant = () => true) {
      const rest = [...faults]
      proxy.befall(request => (isMeant(request) ? (rest.shift() ?? null) : null))
    },
  }
}

async function etagOf(write: Promise<WriteOutcome>): Promise<string> {
  const outcome = await write
  if (outcome.status !== 'written') throw new Error('the write met a conflict')
  return outcome.etag
}

// At once: most of them wait for another attempt.
describe.runIf(hasServer('s3')).concurrent('a store behind a bad line', () => {
  const troubles: { what: string; faults: Fault[] }[] = [
    { what: 'the answer is lost', faults: [LOST] },
    { what: 'two answers are lost', faults: [LOST, LOST] },
    { what: 'the connection is cut', faults: [RESET] },
    { what: 'the server is busy, then the connection is cut', faults: [BUSY, RESET] },
    { what: 'the connection is cut, then the answer is lost', faults: [RESET, LOST] },
    { what: 'the server fails', faults: [{ kind: 'answered', status: 500 }] },
    { what: 'the server meets a conflict of its own', faults: [{ kind: 'answered', status: 409 }] },
    {
      what: 'a page of somebody between says that it is busy',
      faults: [{ kind: 'answered', status: 502, type: 'text/html', body: '<h1>Bad' }],
    },
  ]

  test.for(troubles)('an object is created once, and by this write, when $what', async ({ faults }, context) => {
    const { blobs, direct, next } = await openScene(context)
    next(faults, isWrite)
    expect(await blobs.create('pub/a', Buffer.from('bytes'))).toBe('created')
    expect(Buffer.from((await direct.blobs.read('pub/a'))?.bytes ?? []).toString()).toBe('bytes')
    expect(await blobs.create('pub/a', Buffer.from('bytes'))).toBe('exists')
  })

  test.for(troubles)('a document is created, and stays usable, when $what', async ({ faults }, context) => {
    const { states, direct, next } = await openScene(context)
    next(faults, isWrite)
    const created = await etagOf(states.create('ctl/a', 1))
    expect(await direct.states.read('ctl/a')).toEqual({ value: 1, etag: created })
    next(faults, isWrite)
    const replaced = await etagOf(states.replace('ctl/a', 2, created))
    expect(await direct.states.read('ctl/a')).toEqual({ value: 2, etag: replaced })
    expect(await states.replace('ctl/a', 3, created)).toEqual({ status: 'conflict' })
  })

  test.for(troubles)('a write that is too late is a conflict, even when $what', async ({ faults }, context) => {
    const { blobs, states, direct, next } = await openScene(context)
    await direct.blobs.create('pub/a', Buffer.from('first'))
    const stale = await etagOf(direct.states.create('ctl/a', 1))
    const current = await etagOf(direct.states.replace('ctl/a', 2, stale))
    next(faults, isWrite)
    expect(await blobs.create('pub/a', Buffer.from('second'))).toBe('exists')
    next(faults, isWrite)
    expect(await states.create('ctl/a', 3)).toEqual({ status: 'conflict' })
    next(faults, isWrite)
    expect(await states.replace('ctl/a', 3, stale)).toEqual({ status: 'conflict' })
    expect(await direct.states.read('ctl/a')).toEqual({ value: 2, etag: current })
    expect(Buffer.from((await direct.blobs.read('pub/a'))?.bytes ?? []).toString()).toBe('first')
  })

  test('a write is confirmed although others overwrote it before its writer could ask', async context => {
    const { states, direct, next } = await openScene(context)
    const before = await etagOf(direct.states.create('ctl/a', 'before'))
    const others = async () => {
      for (let turn = 0; turn < 5; turn++) {
        const doc = await direct.states.read('ctl/a')
        expect(await direct.states.replace('ctl/a', `over ${doc?.value}`, doc?.etag ?? '')).toMatchObject({ status: 'written' })
      }
    }
    next([{ ...LOST, meanwhile: others }], isWrite)
    const etag = await etagOf(states.replace('ctl/a', 'mine', before))
    expect((await states.read('ctl/a'))?.value).toBe('over over over over over mine')
    expect(await states.replace('ctl/a', 'again', etag), 'its version is no longer the last one').toEqual({ status: 'conflict' })
  })

  test('two writers whose answers are lost, one after the other, each know the outcome of their write', async context => {
    const { states, direct, next } = await openScene(context)
    const first = await etagOf(direct.states.create('ctl/a', 0))
    let loser: Promise<WriteOutcome> | undefined
    const meanwhile = async () => {
      loser = direct.states.replace('ctl/a', 'late', first)
      await loser
    }
    next([{ ...LOST, meanwhile }], isWrite)
    const winner = await etagOf(states.replace('ctl/a', 'won', first))
    expect(await loser).toEqual({ status: 'conflict' })
    expect(await states.read('ctl/a')).toEqual({ value: 'won', etag: winner })
  })

  test('a removal whose answer is lost is repeated, and succeeds', async context => {
    const { blobs, states, direct, next } = await openScene(context)
    await direct.blobs.create('pub/a', Buffer.from('a'))
    await direct.states.create('ctl/a', 1)
    next([LOST])
    await blobs.remove('pub/a')
    next([BUSY, LOST])
    await states.remove('ctl/a')
    expect([...(await direct.blobs.list('')), ...(await direct.states.list(''))]).toEqual([])
  })

  const readTroubles: { what: string; fault: Fault }[] = [
    { what: 'breaks off', fault: { kind: 'body breaks off' } },
    { what: 'is lost', fault: LOST },
    { what: 'is that of a busy server', fault: BUSY },
    { what: 'comes late', fault: { kind: 'late', milliseconds: 50 } },
  ]

  test.for(readTroubles)('a read whose answer $what is repeated, and whole', async ({ fault }, context) => {
    const { blobs, states, direct, next } = await openScene(context)
    const bytes = Buffer.from(bytesOf('large'))
    await direct.blobs.create('pub/a', bytes)
    await direct.states.create('ctl/a', 'x'.repeat(10_000))
    next([fault, fault])
    expect(bytes.equals((await blobs.read('pub/a'))?.bytes ?? Buffer.of())).toBe(true)
    next([fault, fault])
    expect(bytes.subarray(100, 900).equals((await blobs.readRange('pub/a', 100, 800)) ?? Buffer.of())).toBe(true)
    next([fault, fault])
    expect((await states.read('ctl/a'))?.value).toHaveLength(10_000)
    next([fault, fault])
    expect(await blobs.list('pub/')).toEqual(['pub/a'])
  })

  test.for([
    { what: 'breaks off', fault: { kind: 'body breaks off' } as Fault },
    { what: 'is lost', fault: LOST },
    { what: 'is that of a busy server', fault: BUSY },
    { what: 'refuses', fault: { kind: 'answered', status: 403, body: denied() } as Fault },
    {
      what: 'is a page that says all is well',
      fault: { kind: 'answered', status: 200, type: 'text/html', body: '<h1>Welcome' } as Fault,
    },
    { what: 'is a page', fault: { kind: 'answered', status: 404, type: 'text/html', body: '<h1>Not here' } as Fault },
  ])('a read or write fails while every answer $what, and is never taken for something else', async ({ fault }, context) => {
    const { blobs, states, direct, proxy } = await openScene(context)
    await direct.blobs.create('pub/a', bytesOf('a'))
    const etag = await etagOf(direct.states.create('ctl/a', 'x'.repeat(10_000)))
    proxy.befall(() => fault)
    const attempts = [
      () => blobs.read('pub/a'),
      () => blobs.readRange('pub/a', 0, 1_000),
      () => states.read('ctl/a'),
      () => states.create('ctl/b', 1),
      () => states.replace('ctl/a', 1, etag),
      () => blobs.create('pub/b', Buffer.from('b')),
      () => blobs.list(''),
    ]
    for (const outcome of await Promise.all(attempts.map(ask => ask().catch((error: unknown) => error)))) {
      // A write, and a listing, may have been done where only bodies break off.
      if (fault.kind === 'body breaks off' && !(outcome instanceof Error)) continue
      expect(outcome).toBeInstanceOf(StoreError)
      const error = outcome as StoreError
      expect([error.message, JSON.stringify(error), String(error.cause)].join('\n')).not.toMatch(/AKIA|StringToSign|secret/i)
    }
    if (fault.kind === 'body breaks off')
      for (const read of attempts.slice(0, 3)) await expect(read()).rejects.toThrow(StoreError)
    // What never came to the server changed nothing there.
    if (fault.kind === 'answered') expect((await direct.states.read('ctl/a'))?.etag).toBe(etag)
  })

  test.for([
    { what: 'begins anew with every page', after: '', keys: (page: number) => [`pub/a${page % 2}`, 'pub/b'], isLast: false },
    { what: 'knows nothing of where a page begins', after: 'pub/b', keys: () => ['pub/a', 'pub/b'], isLast: true },
    { what: 'is in another order', after: '', keys: () => ['pub/d', 'pub/c'], isLast: true },
    { what: 'names what was not asked for', after: '', keys: () => ['prv/c', 'pub/c'], isLast: true },
    { what: 'goes on where it was', after: '', keys: () => [], isLast: false },
  ])('a listing that $what fails, and is never followed for ever', async ({ after, keys, isLast }, context) => {
    const { blobs, proxy, prefix } = await openScene(context)
    let pages = 0
    proxy.befall(() => {
      const contents = keys(pages++).map(key => `<Contents><Key>${prefix}/${key}</Key></Contents>`)
      const rest = isLast ? '' : '<NextContinuationToken>more</NextContinuationToken>'
      const body = `<ListBucketResult><IsTruncated>${!isLast}</IsTruncated>${rest}${contents.join('')}</ListBucketResult>`
      return pages > 20 ? { kind: 'hangs' } : { kind: 'answered', status: 200, body }
    })
    await expect(blobs.list('pub/', { after })).rejects.toThrow('STRANGE_ANSWER')
  })

  test('an unanswered request is repeated, whether or not it was executed', async context => {
    const { blobs, states, direct, next } = await openScene(context, { answerMs: 10_000 })
    await direct.blobs.create('pub/a', bytesOf('a'))
    next([{ kind: 'hangs' }, { kind: 'answer hangs' }])
    const [read, created] = await Promise.all([blobs.read('pub/a'), states.create('ctl/a', 1)])
    expect(Buffer.from(bytesOf('a')).equals(read?.bytes ?? Buffer.of())).toBe(true)
    expect(await direct.states.read('ctl/a')).toEqual({ value: 1, etag: await etagOf(Promise.resolve(created)) })
  })

  test('8 callers that count in one document lose no acknowledged increment, while every fifth answer is lost and others fail', async context => {
    const { states, direct, proxy } = await openScene(context)
    await direct.states.create('ctl/counter', 0)
    const random = seeded(7)
    proxy.befall(() => {
      const draw = random()
      if (draw < 0.2) return LOST
      if (draw < 0.25) return RESET
      return draw < 0.3 ? BUSY : null
    })
    let [acknowledged, unknown] = [0, 0]
    const increment = async () => {
      for (;;) {
        try {
          const doc = await states.read('ctl/counter')
          const outcome = await states.replace('ctl/counter', Number(doc?.value) + 1, doc?.etag ?? '').catch(error => {
            unknown++
            throw error
          })
          if (outcome.status === 'conflict') continue
          acknowledged++
          return
        } catch (error) {
          expect(error).toBeInstanceOf(StoreError)
        }
      }
    }
    for (let turn = 0; turn < 8; turn++) await Promise.all(Array.from({ length: 8 }, increment))
    const counted = Number((await direct.states.read('ctl/counter'))?.value)
    expect(acknowledged).toBe(64)
    expect(counted).toBeGreaterThanOrEqual(acknowledged)
    expect(counted).toBeLessThanOrEqual(acknowledged + unknown)
  })

  test('32 creates of one object, each over a bad connection, have one winner', async context => {
    const { direct, proxy, blobs } = await openScene(context)
    const random = seeded(11)
    proxy.befall(request => (isWrite(request) && random() < 0.3 ? LOST : null))
    const names = Array.from({ length: 32 }, (_, index) => `writer-${index}`)
    const outcomes = await Promise.all(names.map(name => blobs.create('pub/one', bytesOf(name))))
    expect(outcomes.filter(outcome => outcome === 'created')).toHaveLength(1)
    const winner = bytesOf(names[outcomes.indexOf('created')] ?? '')
    expect(Buffer.from(winner).equals((await direct.blobs.read('pub/one'))?.bytes ?? Buffer.of())).toBe(true)
  })
})

/** What a server says of a wrong signature: the key and all that was signed. */
function denied(): string {
  return '<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>AKIASECRET</AWSAccessKeyId><StringToSign>secret</StringToSign><SignatureProvided>secret</SignatureProvided></Error>'
}

/** The same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
