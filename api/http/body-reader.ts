import type { Readable } from 'node:stream'
import { ServiceError } from '#core/errors.ts'

/** Bounds of all bodies that are read at one time. */
export interface BodyLimits {
  /** Memory for bodies that are not complete. */
  totalBytes: number
  /** Time to send one body. */
  deadlineMs: number
}

/** Reads request bodies into memory. */
export interface BodyReader {
  /**
   * @throws ServiceError `request.too_large` when the body is longer than `maxBytes`, `request.invalid` when it breaks off, `request.timeout` after the deadline,
   * `hook.busy` when its memory is needed for bodies that arrive faster
   */
  read(body: Readable, maxBytes: number): Promise<Buffer>
}

/** A body counts as progressing when this much of it arrives. */
const STEP_BYTES = 16 * 1024
const BUSY_SECONDS = 1

interface Reading {
  chunks: Buffer[]
  sizeBytes: number
  /** When the latest step was complete, or the reading began. */
  progressAt: number
  end(outcome: Buffer | ServiceError): void
}

/**
 * A body holds the memory of the bytes that arrived, not a place: clients that send nothing keep nothing from others. When the memory is used
 * up, the body whose last progress is longest ago is dropped. To displace others, a client has to send as fast as they do.
 */
export function createBodyReader({ totalBytes, deadlineMs }: BodyLimits): BodyReader {
  const readings = new Set<Reading>()
  let heldBytes = 0

  function receive(reading: Reading, chunk: Buffer, maxBytes: number): void {
    const before = reading.sizeBytes
    reading.sizeBytes += chunk.length
    heldBytes += chunk.length
    if (reading.sizeBytes > maxBytes) {
      reading.end(new ServiceError('request.too_large', { message: `the body exceeds ${maxBytes.toLocaleString('en')} bytes` }))
      return
    }
    reading.chunks.push(chunk)
    if (Math.floor(before / STEP_BYTES) < Math.floor(reading.sizeBytes / STEP_BYTES)) reading.progressAt = performance.now()
    while (heldBytes > totalBytes) slowestOf(readings)?.end(new ServiceError('hook.busy', { retryAfter: BUSY_SECONDS }))
  }

  return {
    read(body, maxBytes) {
      const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
      const onData = (chunk: Buffer) => receive(reading, chunk, maxBytes)
      const onEnd = () => reading.end(Buffer.concat(reading.chunks))
      const onBroken = () => reading.end(new ServiceError('request.invalid', { message: 'the body is incomplete' }))
      const timer = setTimeout(() => reading.end(new ServiceError('request.timeout')), deadlineMs)
      const reading: Reading = {
        chunks: [],
        sizeBytes: 0,
        progressAt: performance.now(),
        end(outcome) {
          clearTimeout(timer)
          body.off('data', onData).off('end', onEnd).off('close', onBroken)
          if (readings.delete(reading)) heldBytes -= reading.sizeBytes
          if (outcome instanceof ServiceError) reject(outcome)
          else resolve(outcome)
        },
      }
      readings.add(reading)
      body.on('data', onData).once('end', onEnd).once('close', onBroken)
      // The error of an aborted request is followed by `close`.
      body.on('error', () => {})
      return promise
    },
  }
}

function slowestOf(readings: ReadonlySet<Reading>): Reading | undefined {
  return [...readings].reduce<Reading | undefined>(
    (slowest, reading) =>
      reading.sizeBytes > 0 && (slowest === undefined || reading.progressAt < slowest.progressAt) ? reading : slowest,
    undefined,
  )
}
