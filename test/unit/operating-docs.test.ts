import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { IndexErrorCode } from '#core/contract/shared.ts'
import { ERROR_STATUS } from '#core/errors.ts'
import { METRICS } from '#core/ports/metrics.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (path: string) => readFile(join(ROOT, path), 'utf8')
const namesIn = (texts: readonly string[], name: RegExp) => [...new Set(texts.flatMap(text => text.match(name) ?? []))].sort()

const GUIDE = await read('docs/operating.md')

test('every setting is told to operators, and none that nothing reads', async () => {
  const sources = await Promise.all(
    ['core/settings.ts', 'infra/infra-settings.ts', 'api/service-settings.ts', 'indexer/jobs/worker-settings.ts'].map(read),
  )
  const name = /\bMOUNTGLASS_[A-Z_]+/g
  expect(namesIn([await read('README.md'), GUIDE], name)).toEqual(namesIn(sources, name))
})

test('every metric that operators are told to watch is one', () => {
  const [, watching = ''] = GUIDE.split('## Watching')
  const told = namesIn([watching], /\bmountglass_[a-z_]+/g)
  expect(told.length).toBeGreaterThan(0)
  for (const name of told) expect(Object.keys(METRICS)).toContain(name)
})

test('every error code that operators are told of is one', () => {
  const told = namesIn([GUIDE], /(?<=`)[a-z]+\.[a-z_]+(?=`)/g).filter(name => !/\.(sqlite|json|yaml|env)$/.test(name))
  expect(told.length).toBeGreaterThan(0)
  for (const name of told) expect([...Object.keys(ERROR_STATUS), ...IndexErrorCode.options]).toContain(name)
})
