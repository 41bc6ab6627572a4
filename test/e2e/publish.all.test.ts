import { spawnSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { hasBrowser, openBrowser } from '#test/site/support/browser.ts'
import { ensureBuilt } from '#test/site/support/built-site.ts'
import { withGapBeforeLastCluster } from '#test/support/clips.ts'
import { folderOf } from '#test/support/operator-folder.ts'
import { startService } from '#test/support/service.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const EXAMPLE = join(ROOT, 'examples/operator')

function publish(folder: string, store: string, ...options: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, 'bin/mountglass.mjs'), 'publish', folder, '--store', `disk:${store}`, ...options],
    { env: { PATH: process.env.PATH }, encoding: 'utf8' },
  )
  return { status, stdout: stdout.split('\n').filter(Boolean), stderr: stderr.split('\n').filter(Boolean) }
}

const DRY = ['new: featured /local/mountglass/handbook', 'new: showcase handbook', 'new: legal terms', 'new: legal privacy']

test('mountglass publish checks, shows and swaps the content of a store, which services then serve', async () => {
  const store = join(await folderOf({}), 'store')
  const faulty = await folderOf({ 'featured.yaml': '- address: nothing\n', 'legal/terms.md': '' })
  const refused = publish(faulty, store)
  expect([refused.status, refused.stdout, refused.stderr.length]).toEqual([1, [], 2])
  expect(refused.stderr[0]).toMatch(/featured\.yaml:1: address: /)

  const dry = publish(EXAMPLE, store, '--dry-run')
  expect(dry).toMatchObject({ status: 0, stderr: [] })
  expect(dry.stdout).toEqual([
    ...DRY,
    ...Array(3).fill(expect.stringMatching(/^upload: [0-9a-f]{64}\./)),
    'nothing was written (--dry-run)',
  ])
  expect(publish(EXAMPLE, store).stdout.at(-1)).toBe('published')
  expect(publish(EXAMPLE, store).stdout).toEqual(['nothing changes'])

  const service = await startService({ MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_STORE: `disk:${store}` })
  try {
    expect((await service.get('showcase', '')).items.map(({ id }) => id)).toEqual(['handbook'])
    expect((await service.get('featured', '')).items.map(({ verified }) => verified)).toEqual([true])
  } finally {
    await service.stop()
  }

  const own = await folderOf({ 'legal/terms.en.md': '---\ntitle: Of the folder\n---\nWords.\n' })
  const other = await startService({ MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_STORE: `disk:${store}`, MOUNTGLASS_OPERATOR: own })
  try {
    expect((await other.get('showcase', '')).items).toEqual([])
    expect((await other.get('legal', '/terms')).texts.en?.title).toBe('Of the folder')
  } finally {
    await other.stop()
  }
})

test('a setting that is wrong, and a store in memory, are refused', async () => {
  const { status } = publish(EXAMPLE, join(await folderOf({}), 'store'), '--store', 'memory:')
  expect(status).toBe(2)
})

const GAP_BYTES = 24 * 1024 * 1024

/** The example folder, with a clip of which a player that seeks to its end loads only parts. */
async function exampleWithLongClip(): Promise<string> {
  const names = (await readdir(EXAMPLE, { recursive: true })).filter(name => /\.\w+$/.test(name))
  const files = await Promise.all(names.map(async name => [name, await readFile(join(EXAMPLE, name))] as const))
  const clip = 'showcase/handbook.webm'
  return await folderOf({
    ...Object.fromEntries(files),
    [clip]: withGapBeforeLastCluster(await readFile(join(EXAMPLE, clip)), GAP_BYTES),
  })
}

describe.skipIf(!hasBrowser)('in a browser', () => {
  test('a clip of the showcase is loaded when it is started, and seeks by ranges', async () => {
    await ensureBuilt()
    const service = await startService({ MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_OPERATOR: await exampleWithLongClip() })
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      const answers: { status: number; range: string | undefined }[] = []
      page.on('response', response => {
        if (response.url().endsWith('.webm'))
          answers.push({ status: response.status(), range: response.headers()['content-range'] })
      })
      await page.goto(service.baseUrl)
      const video = page.locator('video')
      expect(await video.evaluate((element: HTMLVideoElement) => [element.paused, element.readyState])).toEqual([true, 0])
      expect(answers).toEqual([])
      const seeked = await video.evaluate(async (element: HTMLVideoElement) => {
        element.preload = 'metadata'
        element.load()
        await new Promise(resolve => element.addEventListener('loadeddata', resolve, { once: true }))
        element.currentTime = 3.5
        await new Promise(resolve => element.addEventListener('seeked', resolve, { once: true }))
        return { at: element.currentTime, duration: element.duration, seekable: element.seekable.end(0) }
      })
      expect(seeked).toEqual({ at: 3.5, duration: 4, seekable: 4 })
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([206]))
      const starts = answers.map(({ range }) => Number(/^bytes (\d+)-/.exec(range ?? '')?.[1]))
      expect(starts[0]).toBe(0)
      expect(Math.max(...starts)).toBeGreaterThan(GAP_BYTES)
    } finally {
      await browser.close()
      await service.stop()
    }
  })
})
