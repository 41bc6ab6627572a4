import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'STYLE.md', 'README.md', 'docs/operating.md'])(
  '%s names files and folders that exist',
  page => {
    const text = readFileSync(join(ROOT, page), 'utf8')
    const named = [...text.matchAll(/`((?:core|indexer|api|site|infra|bin|scripts|test|docs|examples)\/[\w./-]+)`/g)].map(
      ([, path]) => path ?? '',
    )
    expect(named.filter(path => !existsSync(join(ROOT, path)))).toEqual([])
  },
)
