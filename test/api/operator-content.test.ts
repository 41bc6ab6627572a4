import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { publishContent, publishedSource } from '#api/operator/published.ts'
import { readOperatorFolder, validateFolder } from '#api/operator/read-folder.ts'
import type { Fallbacks } from '#core/ports/fallbacks.ts'
import type { JsonValue } from '#core/ports/state-store.ts'
import { OPERATOR_KEY, operatorBlobKey } from '#core/snapshot/store-keys.ts'
import { mp4Clip } from '#test/support/clips.ts'
import { folderOf } from '#test/support/operator-folder.ts'
import { plainPicture } from '#test/support/pictures.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'
import { getPicture } from './support/pictures.ts'

const EXAMPLE = join(import.meta.dirname, '../../examples/operator')

let at: TestApp | null = null
afterEach(async () => {
  await at?.close()
  at = null
})

const CLIP = mp4Clip()
const FILES = {
  'featured.yaml': '- address: /local/acme/tools\n  image: cover.png\n',
  'cover.png': await plainPicture('png', 9, 9),
  'showcase/p.png': await plainPicture('png', 320, 180),
  'showcase/clip.bin': CLIP,
  'showcase/second.yaml':
    'address: /gh/acme/tools@v1/\nposition: 2\nmedia: {poster: p.png}\ntexts: {EN-us: {title: T, body: B, action: Go}}\n',
  'showcase/first.yaml':
    'address: /local/acme/tools\nposition: -1\npublished: 2026-11-24T10:00:00Z\nmedia: {poster: p.png, clip: clip.bin, picture: p.png}\ntexts:\n  en: {title: T, body: B, action: Go, tags: [a, b], demo: Hello}\n',
  'legal/terms.en.md': '---\ntitle: Terms\nrevised: 2026-01-02\n---\n# Words\n',
  'legal/terms.de.md': '---\ntitle: Bedingungen\nrevised: 2026-02-03\n---\nWorte\n',
}
const REPOSITORIES = { 'acme/tools': { 'a/SKILL.md': '---\nname: a\ndescription: A.\nlicense: MIT\n---\nDo it.\n' } }

describe('the content of a folder', () => {
  test('is the showcase in order of position, with sizes and durations of the files', async () => {
    at = await testApp(REPOSITORIES, { operator: await readOperatorFolder(await folderOf(FILES), BASE_URL) })
    const { items } = await at.ask('showcase', '')
    expect(items).toMatchObject([
      {
        id: 'first',
        address: '/local/acme/tools',
        position: -1,
        width: 640,
        height: 360,
        durationMs: 2_500,
        published: '2026-11-24T10:00:00Z',
        media: { clip: { type: 'video/mp4' }, picture: { type: 'image/png' }, animation: null, reference: null, social: null },
        texts: {
          en: {
            title: 'T',
            body: 'B',
            action: 'Go',
            tags: ['a', 'b'],
            demo: 'Hello',
            requirement: null,
            clip: null,
            credit: null,
          },
        },
      },
      {
        id: 'second',
        address: '/gh/acme/tools@v1',
        width: 320,
        height: 180,
        durationMs: null,
        published: null,
        texts: { 'en-US': { tags: [] } },
      },
    ])
    for (const slot of Object.values(items[0]?.media ?? {})) {
      if (slot === null) continue
      expect(slot.url).toMatch(/^\/media\/[0-9a-f]{64}\.(?:png|mp4)$/)
      const { status, headers } = await getPicture(at, slot.url)
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        slot.type,
        'public, max-age=31536000, immutable',
      ])
    }
  })

  test('is empty without a folder', async () => {
    at = await testApp(REPOSITORIES)
    expect(await at.ask('showcase', '')).toEqual({ items: [] })
    for (const kind of ['terms', 'privacy', 'imprint', '', 'terms/en', '%74erms', '~', '%zz'])
      expect((await at.get(`/api/v1/legal/${kind}`)).json.error.code, kind).toMatch(/^(?:legal|request)\.not_found$/)
  })

  test('has the legal pages that are written, with all their languages', async () => {
    at = await testApp(REPOSITORIES, { operator: await readOperatorFolder(await folderOf(FILES), BASE_URL) })
    expect(await at.ask('legal', '/terms')).toEqual({
      kind: 'terms',
      revised: '2026-02-03',
      texts: { en: { title: 'Terms', body: '# Words\n' }, de: { title: 'Bedingungen', body: 'Worte\n' } },
    })
    expect((await at.get('/api/v1/legal/privacy')).json.error.code).toBe('legal.not_found')
  })
})

test('the example folder has no faults, and its clip is one', async () => {
  const read = await validateFolder(EXAMPLE)
  if ('faults' in read) throw new Error(read.faults.join('\n'))
  expect(read.content.showcase).toMatchObject([{ id: 'handbook', width: 640, height: 360, durationMs: 4_000 }])
  expect(read.content.legal.map(({ kind }) => kind)).toEqual(['terms', 'privacy'])
})

describe('published content', () => {
  const failures: string[] = []
  const fallbacks: Fallbacks = { note: kind => failures.push(kind) }

  async function startWithStore() {
    const app = await testApp(REPOSITORIES, {
      deps: deps => Object.defineProperty({ ...deps }, 'operator', { get: () => source.current() }),
    })
    const source = publishedSource(app, BASE_URL, fallbacks)
    at = app
    failures.length = 0
    return { app, source }
  }
  const readFolder = async (files: Parameters<typeof folderOf>[0]) => {
    const read = await validateFolder(await folderOf(files))
    if ('faults' in read) throw new Error(read.faults.join('\n'))
    return read
  }

  test('is served after the next poll, media with ranges, and missing after a publication without it', async () => {
    const { app, source } = await startWithStore()
    await source.refresh()
    expect(await app.ask('showcase', '')).toEqual({ items: [] })
    const published = await publishContent(app, await readFolder(FILES), false)
    expect(published.changes).toEqual([
      { change: 'new', name: 'featured /local/acme/tools' },
      { change: 'new', name: 'showcase first' },
      { change: 'new', name: 'showcase second' },
      { change: 'new', name: 'legal terms' },
    ])
    expect(published.uploads).toHaveLength(3)
    await source.refresh()
    const { items } = await app.ask('showcase', '')
    const url = items[0]?.media.clip?.url ?? ''
    expect((await getPicture(app, url)).bytes.equals(CLIP)).toBe(true)
    const part = await getPicture(app, url, { range: 'bytes=100-109' })
    expect([part.status, part.bytes.equals(CLIP.subarray(100, 110))]).toEqual([206, true])
    expect((await app.ask('featured', '')).items.map(({ image }) => image)).toEqual([expect.stringContaining('/media/')])

    const { 'showcase/first.yaml': _, 'showcase/clip.bin': __, ...fewer } = FILES
    const next = await publishContent(app, await readFolder({ ...fewer, 'legal/terms.de.md': FILES['legal/terms.en.md'] }), false)
    expect(next).toEqual({
      uploads: [],
      changes: [
        { change: 'changed', name: 'legal terms' },
        { change: 'removed', name: 'showcase first' },
      ],
    })
    await source.refresh()
    expect((await app.ask('showcase', '')).items.map(({ id }) => id)).toEqual(['second'])
    expect((await getPicture(app, url)).status).toBe(404)
    expect(failures).toEqual([])
  })

  test('is only described by a dry run, and not written again when nothing changes', async () => {
    const { app } = await startWithStore()
    const folder = await readFolder(FILES)
    const dry = await publishContent(app, folder, true)
    expect([dry.changes.length, dry.uploads.length]).toEqual([4, 3])
    expect(await app.states.read(OPERATOR_KEY)).toBeNull()
    await publishContent(app, folder, false)
    const before = await app.states.read(OPERATOR_KEY)
    expect(await publishContent(app, folder, false)).toEqual({ uploads: [], changes: [] })
    expect(await app.states.read(OPERATOR_KEY)).toEqual(before)
  })

  test('is unavailable and not cacheable while its media cannot be read', async () => {
    const { app, source } = await startWithStore()
    await publishContent(app, await readFolder(FILES), false)
    await source.refresh()
    const url = (await app.ask('showcase', '')).items[0]?.media.clip?.url ?? ''
    await app.blobs.remove(operatorBlobKey(url.replace('/media/', '')))
    const { status, headers, bytes } = await getPicture(app, url)
    expect([status, headers['cache-control'], headers.etag, bytes.toString()]).toEqual([
      503,
      'no-store',
      undefined,
      'not available now\n',
    ])
  })

  test('stays unchanged while the store fails or its record of the publication is damaged', async () => {
    const { app, source } = await startWithStore()
    await publishContent(app, await readFolder(FILES), false)
    await source.refresh()
    const entry = await app.states.read(OPERATOR_KEY)
    await app.states.replace(OPERATOR_KEY, { content: 'f'.repeat(64) }, entry?.etag ?? '')
    await source.refresh()
    expect((await app.ask('showcase', '')).items).toHaveLength(2)
    expect(failures).toEqual(['operator_content'])
    const damaged = await app.states.read(OPERATOR_KEY)
    await app.states.replace(OPERATOR_KEY, { nothing: true }, damaged?.etag ?? '')
    await source.refresh()
    expect((await app.ask('showcase', '')).items).toHaveLength(2)
  })

  test.each([
    ['its entry names nothing', async (app: TestApp) => replaceEntry(app, { nothing: true })],
    ['its entry names what is not there', async (app: TestApp) => replaceEntry(app, { content: 'f'.repeat(64) })],
    [
      'its bytes are others',
      async (app: TestApp) => {
        const { content } = ((await app.states.read(OPERATOR_KEY))?.value ?? {}) as { content: string }
        await app.blobs.remove(operatorBlobKey(`${content}.json`))
        await app.blobs.create(operatorBlobKey(`${content}.json`), Buffer.from('{}'))
      },
    ],
  ])('is mended by publishing again where %s', async (_, damage) => {
    const { app, source } = await startWithStore()
    const folder = await readFolder(FILES)
    await publishContent(app, folder, false)
    await damage(app)
    await publishContent(app, folder, false)
    await source.refresh()
    expect((await app.ask('showcase', '')).items).toHaveLength(2)
    expect(failures).toEqual([])
  })

  test('is changed by one of two concurrent publishers', async () => {
    const { app } = await startWithStore()
    const other = await readFolder({ 'legal/privacy.en.md': FILES['legal/terms.en.md'] })
    const outcomes = await Promise.allSettled([
      publishContent(app, await readFolder(FILES), false),
      publishContent(app, other, false),
    ])
    const done = outcomes.filter(({ status }) => status === 'fulfilled').length
    expect(done).toBeGreaterThan(0)
    const { content } = ((await app.states.read(OPERATOR_KEY))?.value ?? {}) as { content: string }
    expect(await app.blobs.read(operatorBlobKey(`${content}.json`))).not.toBeNull()
  })
})

async function replaceEntry({ states }: TestApp, value: JsonValue): Promise<void> {
  const entry = await states.read(OPERATOR_KEY)
  await states.replace(OPERATOR_KEY, value, entry?.etag ?? '')
}
