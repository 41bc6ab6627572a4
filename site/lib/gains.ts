import { type Address, formatAddress, parseAddress } from '#core/address.ts'
import { isCommitSha } from '#core/commit-sha.ts'
import { withTimeout } from '#core/concurrency/timeout.ts'
import type { ChangesPage } from '#core/contract/changes.ts'
import { partsOf } from './delivery.ts'
import type { Example } from './front-page.ts'
import { contentHref, pageHref } from './links.ts'
import type { RepositoryRow } from './repository-rows.ts'
import type { Versions } from './versions.ts'

/** Where a visitor of the front page can see what the service is for, each in a real repository; `null` where none has it yet. */
export interface Gains {
  /** The texts of the example skill. */
  read: { href: string; skill: string; texts: number } | null
  /** `changes`: `null` until both versions are indexed. `isNamed`: the version is a tag. */
  changed: { href: string; address: Address; version: string; isNamed: boolean; changes: number | null } | null
  look: { href: string; address: Address; findings: number } | null
}

/** Repositories that are asked for their last version, and the time for all of them. */
const ASKED = 8
const ASKED_MS = 500

/** Looks at the example first, then at the rows in their order. Starts no index job; no host but the example's and that of local ones is asked. */
export async function loadGains(
  { versions, hosts }: { versions: Versions; hosts: readonly string[] },
  example: Example | null,
  rows: readonly RepositoryRow[],
): Promise<Gains> {
  const own = example === null ? [] : [parseAddress(example.mount.address, hosts)]
  const ready = rows.filter(({ state }) => state.kind === 'ready')
  const local = ready.flatMap(({ address, href }) =>
    address.host === 'local' && href !== example?.mount.address ? [address] : [],
  )
  const asked = [...own, ...local].slice(0, ASKED)
  return {
    read: example && readOf(example, hosts),
    changed: await withTimeout(findChanged(versions, asked), ASKED_MS, () => null),
    look: findLook(ready, example),
  }
}

function readOf({ mount, delivery }: Example, hosts: readonly string[]): NonNullable<Gains['read']> {
  const { skill } = delivery.page
  const href = contentHref(parseAddress(mount.address, hosts), skill.path)
  return { href, skill: skill.name, texts: partsOf(delivery).length }
}

/** The first with changes that can be counted, or else with a version that has a name, or else with an older commit. */
async function findChanged(versions: Versions, addresses: readonly Address[]): Promise<Gains['changed']> {
  const found = await Promise.all(addresses.map(address => changedOf(versions, address).catch(() => null)))
  const known = found.filter(one => one !== null)
  return known.find(({ changes }) => changes !== null) ?? known.find(({ isNamed }) => isNamed) ?? known[0] ?? null
}

async function changedOf(versions: Versions, address: Address): Promise<Gains['changed']> {
  const base = await versions.indexedBase(address)
  if (base === null) return null
  const { ref, commit, isIndexed } = base
  const isNamed = !isCommitSha(ref)
  const version = isNamed ? ref.replace(/^refs\/tags\//, '') : ref.slice(0, 7)
  const told = { href: pageHref(address, 'changes', { from: ref }), address, version, isNamed }
  if (!isIndexed) return { ...told, changes: null }
  const changes = countOf(await versions.changesIfIndexed(address, commit))
  // Nothing that agents read has changed.
  return changes === 0 ? null : { ...told, changes }
}

function countOf(page: ChangesPage | null): number | null {
  if (page === null) return null
  return Object.values(page.counts)
    .flatMap(counts => Object.values(counts))
    .reduce((sum, count) => sum + count, 0)
}

/** The findings of the example if it has some, or else of the first row that has. */
function findLook(ready: readonly RepositoryRow[], example: Example | null): Gains['look'] {
  const found = ready.flatMap(({ address, state }) => {
    const findings = state.kind === 'ready' ? state.facts.findings : null
    return findings ? [{ href: pageHref(address, 'findings'), address, findings }] : []
  })
  return found.find(({ address }) => formatAddress(address) === example?.mount.address) ?? found[0] ?? null
}
