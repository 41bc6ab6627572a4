import { expect, test } from 'vitest'
import { readJson } from '#core/read-json.ts'

test('an answer of at most the given bytes is read', async () => {
  expect(await readJson(new Response('{"a":1}'), 7)).toEqual({ a: 1 })
})

test('no more of an answer is read than the given bytes', async () => {
  let sent = 0
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1024
      controller.enqueue(new Uint8Array(1024).fill(0x20))
    },
  })
  expect(await readJson(new Response(endless), 4096)).toBeUndefined()
  expect(sent).toBeLessThan(16 * 1024)
})

test.each(['', '{', '<html></html>'])('an answer that is no JSON has no value: %j', async text => {
  expect(await readJson(new Response(text), 100)).toBeUndefined()
})
