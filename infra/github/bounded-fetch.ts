/**
 * A `fetch` that does not follow redirects. Reading a body longer than `maxBytes` throws.
 *
 * @param maxBytes of a body, after decompression
 */
export function boundedFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, { ...init, redirect: 'manual' })
    if (answer.body === null) return answer
    const { status, statusText, headers } = answer
    return new Response(answer.body.pipeThrough(boundary(maxBytes)), { status, statusText, headers })
  }
}

function boundary(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let left = maxBytes
  return new TransformStream({
    transform(chunk, controller) {
      left -= chunk.length
      if (left < 0) controller.error(new Error(`the answer is longer than ${maxBytes} bytes`))
      else controller.enqueue(chunk)
    },
  })
}
