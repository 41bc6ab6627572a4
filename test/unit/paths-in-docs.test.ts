import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const PAGES = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'STYLE.md',
  'README.md',
  'SECURITY.md',
  'docs/changing.md',
  'docs/github.md',
  'docs/operating.md',
  'docs/search.md',
  'docs/security.md',
  'docs/settings.md',
]
const FOLDERS = /`((?:core|indexer|api|site|infra|cli|bin|scripts|test|words|docs|examples)\/[\w./-]+)`/g
/** A file that a page names without its folder. */
const FILES = /`([\w-]+\.(?:ts|mjs))`/g

test.each(PAGES)('%s names files and folders that exist', page => {
  const text = readFileSync(join(ROOT, page), 'utf8')
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const names = new Set(listed.split('\0').map(path => basename(path)))
  const paths = [...text.matchAll(FOLDERS)].map(([, path]) => path ?? '')
  const files = [...text.matchAll(FILES)].map(([, name]) => name ?? '')
  expect([...paths.filter(path => !existsSync(join(ROOT, path))), ...files.filter(name => !names.has(name))]).toEqual([])
})
