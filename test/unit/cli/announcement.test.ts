import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseRepositoryRule, type RepositoryRule } from '#api/operator/repository-rule.ts'
import { announcement, openAddresses } from '#cli/announcement.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { StoreSetting } from '#infra/infra-settings.ts'

const URL = 'http://127.0.0.1:4321'
const STORE = { kind: 'disk', folder: '/srv/data' } as const
const FIRST = `Mountglass answers at ${URL}/; its data is in /srv/data`

function repository(name: string, more: Partial<HostRepository> = {}): HostRepository {
  const shown = { defaultBranch: 'main', description: null, avatar: null, visibility: 'public' } as const
  return { id: name, host: 'local', owner: 'acme', name, ...shown, ...more }
}

function addressesOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `/local/acme/tools-${index + 1}`)
}

function printed(count: number, { isComplete = true, withPages = true } = {}): string[] {
  const local = { addresses: addressesOf(count), isComplete }
  return announcement(URL, { store: STORE, local, hasHandbook: true, withPages }).split('\n')
}

test('without a folder of the operator the start prints the address of the handbook', () => {
  const without = { store: STORE, local: null, withPages: true }
  expect(announcement(URL, { ...without, hasHandbook: true })).toBe(
    `${FIRST}\n  an address to begin with: ${URL}/local/mountglass/handbook\n`,
  )
  expect(announcement(URL, { ...without, hasHandbook: false })).toBe(`${FIRST}\n`)
})

test('a few local repositories are printed, a line each, and the rest is counted', () => {
  expect(printed(2)).toEqual([FIRST, `  ${URL}/local/acme/tools-1`, `  ${URL}/local/acme/tools-2`, ''])
  expect(printed(5)).toHaveLength(7)
  expect(printed(17).slice(5)).toEqual([`  ${URL}/local/acme/tools-5`, '  and 12 more', ''])
  expect(printed(5, { isComplete: false }).at(-2)).toContain('perhaps more')
})

test('an empty folder is reported, and the handbook is offered', () => {
  expect(printed(0)).toEqual([
    FIRST,
    expect.stringContaining('MOUNTGLASS_LOCAL_REPOSITORIES'),
    `  an address to begin with: ${URL}/local/mountglass/handbook`,
    '',
  ])
})

test('without pages the printed addresses are those of the API', () => {
  expect(printed(1, { withPages: false }).slice(0, 3)).toEqual([
    FIRST.replace('/;', '/api/v1;'),
    expect.stringContaining('npm run build'),
    `  ${URL}/api/v1/mounts/local/acme/tools-1`,
  ])
})

test.each<[StoreSetting, string]>([
  [{ kind: 'disk', folder: '.mountglass' }, join(process.cwd(), '.mountglass')],
  [{ kind: 's3', bucket: 'skills', prefix: '', endpoint: null, region: null, credentials: null }, 's3:skills'],
  [{ kind: 's3', bucket: 'skills', prefix: 'a/b', endpoint: null, region: null, credentials: null }, 's3:skills/a/b'],
  [{ kind: 'memory' }, 'memory, until this process ends'],
])('of the store %o the first line says where it is', (store, place) => {
  const [first] = announcement(URL, { store, local: null, hasHandbook: true, withPages: true }).split('\n')
  expect(first).toBe(`Mountglass answers at ${URL}/; its data is in ${place}`)
})

test('private repositories and those that a rule refuses are not printed', () => {
  const deny = [parseRepositoryRule('local/acme/secret-*') as RepositoryRule]
  const listed = [
    repository('tools'),
    repository('hidden', { visibility: 'private' }),
    repository('secret-plans'),
    repository('tree', { main: { owner: 'acme', name: 'secret-plans' } }),
  ]
  expect(openAddresses({ allow: null, deny }, listed)).toEqual(['/local/acme/tools'])
  const allow = [parseRepositoryRule('local/other/*') as RepositoryRule]
  expect(openAddresses({ allow, deny: [] }, listed)).toEqual([])
})
