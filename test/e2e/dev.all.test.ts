import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openBrowser } from '#test/site/support/browser.ts'
import { ensureBuilt } from '#test/site/support/built-site.ts'
import { until } from '#test/support/until.ts'
import { freePort } from '../../scripts/servers/free-port.mjs'

const ROOT = join(import.meta.dirname, '..', '..')

describe('npm run dev', () => {
  let program: ChildProcess
  let origin: string

  beforeAll(async () => {
    await ensureBuilt()
    // Its pages listen on the port after it.
    const port = await freePort(2)
    origin = `http://127.0.0.1:${port}`
    program = spawn(process.execPath, [join(ROOT, 'scripts', 'dev.mjs')], {
      cwd: ROOT,
      // Not the environment of the tests, in which Vite watches nothing.
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        PORT: String(port),
        MOUNTGLASS_GITHUB: 'off',
        MOUNTGLASS_STORE: 'memory:',
      },
      stdio: 'ignore',
    })
    await until(async () => (await fetch(`${origin}/docs`).catch(() => null))?.status === 200)
    await until(async () => (await fetch(`${origin}/api/v1/featured`).catch(() => null))?.status === 200)
  })
  afterAll(async () => {
    const ended = once(program, 'exit')
    program.kill('SIGTERM')
    await ended
  })

  test('serves pages, addresses, Markdown and the API', async () => {
    const read = async (path: string) => {
      const answer = await fetch(origin + path)
      return `${answer.status} ${answer.headers.get('content-type')?.replace(/;.*/, '')} ${/<title>(.*?)</.exec(await answer.text())?.[1]}`
    }
    expect(await read('/')).toContain('200 text/html See what your agents read · Mountglass')
    expect(await read('/docs?lang=de')).toContain('200 text/html Was Mountglass ist')
    expect(await read('/docs/limits.md')).toContain('200 text/markdown')
    expect(await read('/nothing')).toContain('404 text/html Page not found')
    expect(await read('/local/mountglass/handbook@no%2Fsuch?view=browse')).toContain('404 text/html Version not found')
    expect(await read('/local/mountglass/handbook')).toContain('200 text/html')
    expect(await read('/local/mountglass/handbook?view=changes')).toContain('200 text/html')
    expect(await read('/search?q=mount')).toContain('200 text/html')
    expect(await read('/suggest?q=hand')).toContain('200 application/json')
    expect(await read('/api/v1/mounts/local/mountglass/handbook')).toContain('200 application/json')
  })

  test.skipIf(!hasBrowser)('reloads the page in the browser when one of its sources changes', async () => {
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      const isConnected = page.waitForEvent('console', message => message.text().includes('[vite] connected'))
      await page.goto(`${origin}/nothing`)
      await isConnected
      await page.evaluate('window.isOld = true')
      const reloaded = page.waitForEvent('load')
      const now = new Date()
      await utimes(join(ROOT, 'site', 'pages', '404.astro'), now, now)
      await reloaded
      expect(await page.evaluate('window.isOld')).toBeUndefined()
    } finally {
      await browser.close()
    }
  })
})
