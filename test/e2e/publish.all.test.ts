import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { hasBrowser, openBrowser } from '#test/site/support/browser.ts'
import { ensureBuilt } from '#test/site/support/built-site.ts'
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

describe.skipIf(!hasBrowser)('in a browser', () => {
  test('a clip of the showcase plays when it is started, and seeks by ranges', async () => {
    await ensureBuilt()
    const service = await startService({ MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_OPERATOR: EXAMPLE })
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      const statuses: number[] = []
      page.on('response', response => response.url().endsWith('.webm') && statuses.push(response.status()))
      await page.goto(service.baseUrl)
      const video = page.locator('video')
      expect(await video.evaluate((element: HTMLVideoElement) => [element.paused, element.readyState])).toEqual([true, 0])
      expect(statuses).toEqual([])
      const seeked = await video.evaluate(async (element: HTMLVideoElement) => {
        element.preload = 'auto'
        element.load()
        await new Promise(resolve => element.addEventListener('loadeddata', resolve, { once: true }))
        element.currentTime = 3
        await new Promise(resolve => element.addEventListener('seeked', resolve, { once: true }))
        return { at: element.currentTime, duration: element.duration, seekable: element.seekable.end(0) }
      })
      expect(seeked).toEqual({ at: 3, duration: 4, seekable: 4 })
      expect(statuses).toContain(206)
    } finally {
      await browser.close()
      await service.stop()
    }
  })
})
