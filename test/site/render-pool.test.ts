import { readdir } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { parseAddress } from '#core/address.ts'
import { YIELDING_NICENESS } from '#core/concurrency/priority.ts'
import { createTextRenderer, type RendererOptions, type RenderOutcome } from '#site/lib/render-pool.ts'
import { IMPATIENT_MS } from '#test/support/patient.ts'

const HOSTILE = new URL('../support/hostile-renderer.ts', import.meta.url)
const address = parseAddress('/local/acme/tools', ['local'])
const textOf = (content: string) => ({
  kind: 'markdown' as const,
  content,
  path: 'a.md',
  address,
  language: 'en' as const,
  idPrefix: 't-',
})
const LONG_MS = 60_000

function openRenderer(options: RendererOptions = {}) {
  const outcomes: RenderOutcome[] = []
  const failures: unknown[] = []
  const settings: RendererOptions = {
    limitMs: LONG_MS,
    patienceMs: LONG_MS,
    ...options,
    onOutcome: outcome => void outcomes.push(outcome),
    onFailure: error => void failures.push(error),
  }
  const renderer = createTextRenderer(settings)
  onTestFinished(() => renderer.close())
  const render = (content: string) => renderer.render(textOf(content))
  return {
    render,
    /** The thread is ready, and has little time for this text alone. */
    renderImpatiently(content: string) {
      settings.limitMs = IMPATIENT_MS
      const rendering = render(content)
      settings.limitMs = LONG_MS
      return rendering
    },
    close: renderer.close.bind(renderer),
    outcomes,
    failures,
  }
}

test('a text is rendered once and kept by its content; the same text at once is one task', async () => {
  const { render, outcomes } = openRenderer()
  const html =
    '<h3 id="t-a">A <a class="anchor" href="#t-a" aria-hidden="true" tabindex="-1">#</a></h3>\n' +
    '<p><a href="/local/acme/tools?view=file&#38;path=b.md" rel="nofollow ugc noopener">b</a></p>\n'
  const both = await Promise.all([render('# A\n\n[b](b.md)'), render('# A\n\n[b](b.md)')])
  expect(both).toEqual([1, 2].map(() => ({ status: 'rendered', html })))
  expect(await render('# A\n\n[b](b.md)')).toEqual(both[0])
  expect(outcomes).toEqual(['rendered', 'rendered', 'cached'])
})

/** None of a thread that ended meanwhile. */
function priorityOf(thread: string): number[] {
  try {
    return [getPriority(Number(thread))]
  } catch {
    return []
  }
}

test.runIf(process.platform === 'linux')('the thread yields to the event loop, which keeps its priority', async () => {
  const usual = getPriority()
  const threads = () => readdir('/proc/self/task')
  // An earlier test of this process may have left one with a priority of its own.
  const before = new Set(await threads())
  const { render } = openRenderer()
  await render('# A')
  // What the thread starts itself inherits its priority.
  const priorities = (await threads()).filter(thread => !before.has(thread)).flatMap(priorityOf)
  const others = priorities.filter(priority => priority !== usual)
  expect(new Set(others)).toEqual(new Set(usual < YIELDING_NICENESS ? [YIELDING_NICENESS] : []))
  expect(getPriority(process.pid)).toBe(usual)
})

test('results are kept up to their bytes: a forgotten text is rendered again', async () => {
  const { render, outcomes } = openRenderer({ cacheBytes: 10_000 })
  for (const letter of ['a', 'b', 'c', 'a']) await render(letter.repeat(2_000))
  expect(outcomes).toEqual(['rendered', 'rendered', 'rendered', 'rendered'])
  await render('c'.repeat(2_000))
  expect(outcomes.at(-1)).toBe('cached')
})

test('a text that never ends is stopped by its timeout, stays too large, and the texts behind it are rendered', async () => {
  const { render, renderImpatiently, outcomes } = openRenderer({ program: HOSTILE })
  await render('first')
  const hanging = renderImpatiently('hangs')
  const next = render('next')
  let turns = 0
  const turning = setInterval(() => turns++, 1)
  expect(await hanging).toEqual({ status: 'too_large' })
  clearInterval(turning)
  // This thread did other work meanwhile.
  expect(turns).toBeGreaterThan(0)
  expect(await next).toEqual({ status: 'rendered', html: 'next' })
  expect(await render('hangs')).toEqual({ status: 'too_large' })
  expect(outcomes).toEqual(['rendered', 'slow', 'rendered', 'cached'])
})

test('a text that takes all memory of the thread ends the thread and nothing else', async () => {
  const { render, outcomes } = openRenderer({ program: HOSTILE })
  expect(await render('eats')).toEqual({ status: 'too_large' })
  expect(await render('next')).toEqual({ status: 'rendered', html: 'next' })
  expect(outcomes).toEqual(['slow', 'rendered'])
})

test('a fault of the renderer is reported, not cached, and the next text is rendered', async () => {
  const { render, outcomes, failures } = openRenderer({ program: HOSTILE })
  expect(await render('fails')).toEqual({ status: 'unavailable' })
  expect(await render('next')).toEqual({ status: 'rendered', html: 'next' })
  expect(await render('fails')).toEqual({ status: 'unavailable' })
  expect(outcomes).toEqual(['failed', 'rendered', 'failed'])
  expect(failures).toEqual([1, 2].map(() => expect.objectContaining({ message: 'a fault of the renderer' })))
})

test('a page waits no longer than its patience, and no more texts wait than the bound', async () => {
  const { render, close, outcomes } = openRenderer({ program: HOSTILE, patienceMs: IMPATIENT_MS })
  const long = 'x'.repeat(40_000)
  const asked = ['hangs', ...Array.from({ length: 40 }, (_, number) => `${number} ${long}`)]
  const answers = await Promise.all(asked.map(render))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['unavailable']))
  expect(outcomes).toEqual(asked.map(() => 'busy'))
  await close()
  expect(await render('next')).toEqual({ status: 'unavailable' })
})
