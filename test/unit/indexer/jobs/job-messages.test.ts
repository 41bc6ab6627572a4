import { stdSerializers } from 'pino'
import { expect, test } from 'vitest'
import { packEnd } from '#indexer/jobs/job-messages.ts'

const circular = new Error('outer')
circular.cause = new Error('inner', { cause: circular })

test.each([
  ['without a cause', new Error('alone')],
  ['with causes', new Error('outer', { cause: new TypeError('middle', { cause: new Error('inner') }) })],
  ['whose cause is no error', new Error('outer', { cause: 'words' })],
])('an error %s has the words that the log would have', (_what, error) => {
  const { message, stack } = stdSerializers.err(error)
  expect(packEnd({ status: 'failed', err: error } as never)).toMatchObject({ err: { message, stack } })
})

test('an error that is its own cause is reported once', () => {
  const { err } = packEnd({ status: 'failed', err: circular } as never) as unknown as { err: Error }
  expect(err.message).toBe('outer: inner')
})

test('a thrown value that is no error is reported as it is', () => {
  expect(packEnd({ status: 'failed', err: 'words' } as never)).toMatchObject({ err: { message: 'words', stack: '' } })
})
