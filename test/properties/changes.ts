import { expect } from 'vitest'
import type { ChangeItem } from '#core/contract/changes.ts'
import {
  allItems,
  type ComparedCommits,
  expectedChanges,
  WITHHELD_TEXT,
  withoutTokens,
} from '#test/support/changing-repositories.ts'
import type { TestApp } from '#test/support/test-app.ts'

/* Properties of every comparison of two commits of a test repository. */

/** The oracle agrees on every item; the mirror mirrors; one side with itself is empty; no page tells of what is withheld. */
export async function expectAgreement(app: TestApp, compared: ComparedCommits): Promise<ChangeItem[]> {
  const { name, from, to } = compared
  const address = (commit: string) => `/local/${name}@${commit}`
  await app.open(address(from))
  await app.open(address(to))
  const whole = await allItems(app, address(to), from)
  expect(whole.items.map(withoutTokens)).toEqual(await expectedChanges(app, compared))
  expect(countsOf(whole.items)).toEqual(whole.counts)
  const mirror = await allItems(app, address(from), to)
  expect(mirror.items.map(mirrored)).toEqual(inOrder(whole.items.map(withoutFacts)))
  expect((await allItems(app, address(to), to)).items).toEqual([])
  const limit = Math.max(3, Math.ceil(whole.items.length / 8))
  expect((await allItems(app, address(to), from, { limit: `${limit}` })).items).toEqual(whole.items)
  expect(JSON.stringify(whole)).not.toContain(WITHHELD_TEXT)
  return whole.items
}

function countsOf(items: readonly ChangeItem[]) {
  const count = (kind: ChangeItem['kind']) => {
    const of = (change: string) => items.filter(item => item.kind === kind && item.change === change).length
    return { added: of('added'), removed: of('removed'), changed: of('changed'), moved: of('moved') }
  }
  return { skills: count('skill'), documents: count('document'), manifests: count('manifest') }
}

const OPPOSITE: Record<string, string> = { added: 'removed', removed: 'added' }

function withoutFacts(item: ChangeItem): object {
  // Names and titles are of the new side, and so are the paths that causes are named by.
  const { kind, path, change, parts, before, after } = item
  const movedFrom = 'movedFrom' in item ? { movedFrom: item.movedFrom } : {}
  const causes = 'causes' in item ? { causes: item.causes.map(({ part, change: of }) => `${part} ${of}`).sort() } : {}
  return { kind, path, change, parts, before, after, ...movedFrom, ...causes }
}

function mirrored(item: ChangeItem): object {
  const { kind, path, change, parts, before, after } = item
  const movedFrom = 'movedFrom' in item ? item.movedFrom : undefined
  const causes =
    'causes' in item ? { causes: item.causes.map(({ part, change: of }) => `${part} ${OPPOSITE[of] ?? of}`).sort() } : {}
  return {
    kind,
    path: movedFrom ?? path,
    change: OPPOSITE[change] ?? change,
    parts,
    before: after,
    after: before,
    ...(movedFrom === undefined ? {} : { movedFrom: path }),
    ...causes,
  }
}

/** In the order of the mirror: a moved item lies at its old path there. */
function inOrder(items: object[]): unknown {
  const key = (item: { path?: string; movedFrom?: string; kind?: string }) => `${item.movedFrom ?? item.path}\0${item.kind}`
  return items.toSorted((left, right) => Buffer.compare(Buffer.from(key(left)), Buffer.from(key(right))))
}
