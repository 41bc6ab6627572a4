import { expect, test } from 'vitest'
import { parseAddress } from '#core/address.ts'
import type { ReadFirstFile } from '#core/contract/mount.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { loadInstructions } from '#site/lib/changed-instructions.ts'
import { answering, COMMIT, filePage, readyMount, refusal } from './support/answers.ts'

/* The files that agents read before any skill, at two commits. */

const ADDRESS = parseAddress('/local/acme/tools', ['local'])
const OTHER = 'b'.repeat(40)
const SIDES = {
  path: '',
  from: { ref: 'v1', commit: OTHER, status: 'ready' },
  to: { ref: null, commit: COMMIT, status: 'ready' },
} as const
type Files = Readonly<Record<string, { sha256?: string; target?: string }>>

function comparing(before: Files, after: Files) {
  const sideOf = (address: string) => (address.includes(OTHER) ? before : after)
  const client = createApiClient(
    answering({
      mounts: ({ address }) => {
        const files = Object.entries(sideOf(address)).map(
          ([path, { target }]): ReadFirstFile => ({ path, delivered: true, ...(target && { target }) }),
        )
        return readyMount({ readFirst: { files, nested: 0 } })
      },
      files: ({ address, query }) => {
        const path = query.get('path') ?? ''
        const sha256 = sideOf(address)[path]?.sha256
        return sha256 === undefined ? refusal('file.not_served') : { ...filePage({ path }), sha256: sha256.repeat(64) }
      },
    }),
  )
  return loadInstructions(client, ADDRESS, SIDES)
}

test('each file is compared by its bytes, and a link to another one is that one', async () => {
  const link = { sha256: 'a', target: 'CLAUDE.md' }
  expect(
    await comparing(
      {
        'CLAUDE.md': { sha256: 'a' },
        'AGENTS.md': link,
        'GEMINI.md': { sha256: 'c' },
        '.github/copilot-instructions.md': { sha256: 'd' },
      },
      { 'AGENTS.md': { ...link, sha256: 'b' }, 'CLAUDE.md': { sha256: 'b' }, 'GEMINI.md': { sha256: 'c' } },
    ),
  ).toEqual([
    { path: 'CLAUDE.md', change: 'changed' },
    { path: 'GEMINI.md', change: 'unchanged' },
    { path: '.github/copilot-instructions.md', change: 'removed' },
  ])
  expect(await comparing({}, { 'AGENTS.md': { sha256: 'a', target: 'docs/x.md' } })).toEqual([
    { path: 'AGENTS.md', change: 'added' },
  ])
})

test('nothing is said of a file that cannot be read, and of one commit', async () => {
  expect(await comparing({ 'CLAUDE.md': { sha256: 'a' } }, { 'CLAUDE.md': {} })).toEqual([])
  const client = createApiClient(answering({}))
  expect(await loadInstructions(client, ADDRESS, { ...SIDES, from: SIDES.to })).toEqual([])
})
