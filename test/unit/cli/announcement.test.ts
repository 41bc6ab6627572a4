import { expect, test } from 'vitest'
import { parseRepositoryRule, type RepositoryRule } from '#api/operator/repository-rule.ts'
import { announcement, openAddresses } from '#cli/announcement.ts'
import type { HostRepository } from '#core/ports/git-host.ts'

const URL = 'http://127.0.0.1:4321'

function repository(name: string, more: Partial<HostRepository> = {}): HostRepository {
  const shown = { defaultBranch: 'main', description: null, avatar: null, visibility: 'public' } as const
  return { id: name, host: 'local', owner: 'acme', name, ...shown, ...more }
}

function addressesOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `/local/acme/tools-${index + 1}`)
}

function printed(count: number, { isComplete = true, withPages = true } = {}): string[] {
  const local = { addresses: addressesOf(count), isComplete }
  return announcement(URL, { local, hasHandbook: true, withPages }).split('\n')
}

test('without a folder of the operator the start prints the address of the handbook', () => {
  expect(announcement(URL, { local: null, hasHandbook: true, withPages: true })).toBe(
    `Mountglass answers at ${URL}/\n  an address to begin with: ${URL}/local/mountglass/handbook\n`,
  )
  expect(announcement(URL, { local: null, hasHandbook: false, withPages: true })).toBe(`Mountglass answers at ${URL}/\n`)
})

test('a few local repositories are printed, a line each, and the rest is counted', () => {
  expect(printed(2)).toEqual([`Mountglass answers at ${URL}/`, `  ${URL}/local/acme/tools-1`, `  ${URL}/local/acme/tools-2`, ''])
  expect(printed(5)).toHaveLength(7)
  expect(printed(17).slice(5)).toEqual([`  ${URL}/local/acme/tools-5`, '  and 12 more', ''])
  expect(printed(5, { isComplete: false }).at(-2)).toContain('perhaps more')
})

test('an empty folder is reported, and the handbook is offered', () => {
  expect(printed(0)).toEqual([
    `Mountglass answers at ${URL}/`,
    expect.stringContaining('MOUNTGLASS_LOCAL_REPOSITORIES'),
    `  an address to begin with: ${URL}/local/mountglass/handbook`,
    '',
  ])
})

test('without pages the printed addresses are those of the API', () => {
  expect(printed(1, { withPages: false }).slice(0, 2)).toEqual([
    expect.stringContaining('npm run build'),
    `  ${URL}/api/v1/mounts/local/acme/tools-1`,
  ])
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
