import { expect, test } from 'vitest'
import { formatAddress } from '#core/address.ts'
import { chooseReading, readTypedAddress } from '#core/typed-address.ts'

const read = (text: string) => readTypedAddress(text, { hosts: ['gh', 'local'], baseUrl: 'https://mountglass.example' })

test.each([
  ['local/acme/tools', '/local/acme/tools'],
  ['/local/acme/tools@v1/docs/', '/local/acme/tools@v1/docs'],
  ['acme/tools', '/gh/acme/tools'],
  ['https://github.com/acme/tools.git', '/gh/acme/tools'],
  ['git@github.com:acme/tools.git', '/gh/acme/tools'],
  ['https://github.com/acme/tools/tree/main/skills', '/gh/acme/tools@main/skills'],
  ['https://mountglass.example/local/acme/tools?view=browse', '/local/acme/tools'],
])('%s is %s', (text, address) => {
  const typed = read(text)
  expect(typed.kind === 'address' && formatAddress(typed.address)).toBe(address)
})

test('skills.sh names a repository of GitHub and a skill of it, or of the one host that is served', () => {
  const url = 'https://skills.sh/acme/tools/pdf'
  expect(read(url)).toMatchObject({ kind: 'address', address: { host: 'gh', repository: 'tools' }, skill: 'pdf' })
  const served = readTypedAddress(url, { hosts: ['local'], baseUrl: 'https://mountglass.example' })
  expect(served).toMatchObject({ kind: 'address', address: { host: 'local', repository: 'tools' }, skill: 'pdf' })
})

test.each([
  ['acme/tools', 'address'],
  ['acme/tools@v1/docs', 'address'],
  ['gh/acme/tools', 'unreadable'],
  ['nonsense', 'unreadable'],
])('with one host, %s is of kind %s', (text, kind) => {
  expect(readTypedAddress(text, { hosts: ['local'], baseUrl: 'https://mountglass.example' }).kind).toBe(kind)
})

test('a file at GitHub is its repository at the ref, and the file', () => {
  expect(read('https://github.com/acme/tools/blob/main/docs/a.md')).toMatchObject({
    kind: 'address',
    address: { repository: 'tools', ref: 'main', path: '' },
    file: 'docs/a.md',
  })
})

test('an account is distinguished from a repository, and invalid text has the code of the address', () => {
  expect(read('https://github.com/acme')).toMatchObject({ kind: 'owner', owner: { owner: 'acme' } })
  expect(read('local/acme')).toMatchObject({ kind: 'unreadable', code: 'address.incomplete' })
  expect(read('https://gitlab.com/acme/tools')).toMatchObject({ kind: 'unreadable', code: null })
})

test.each([
  ['local/acme/tools', [], [], '/local/acme/tools'],
  ['https://github.com/acme/tools/tree/main', [], [], '/gh/acme/tools@main'],
  ['npx skills add acme/tools', ['/local/acme/tools'], [], '/gh/acme/tools'],
  ['acme/tools@v1/docs', ['/local/acme/tools'], ['/local/acme/tools'], '/local/acme/tools@v1/docs'],
  ['acme/tools@v1/docs', [], ['/local/acme/tools'], '/gh/acme/tools@v1/docs'],
  [
    'https://github.com/acme/tools/tree/new/x/docs',
    ['/gh/acme/tools@new%2Fx'],
    ['/gh/acme/tools@new', '/gh/acme/tools@new%2Fx'],
    '/gh/acme/tools@new%2Fx/docs',
  ],
  ['https://github.com/acme/tools/tree/new/x', [], ['/gh/acme/tools@new', '/gh/acme/tools@new%2Fx'], '/gh/acme/tools@new/x'],
])('%s, if %j exists, looks up %j and resolves to %s', async (text, existing, expected, meaning) => {
  const typed = read(text)
  if (typed.kind !== 'address') throw new Error(`${text} is of kind ${typed.kind}`)
  const asked: string[] = []
  const { address } = await chooseReading(typed, async address => {
    asked.push(formatAddress(address))
    return (existing as string[]).includes(formatAddress(address)) ? null : 'mount.ref_not_found'
  })
  expect({ asked, meaning: formatAddress(address) }).toEqual({ asked: expected, meaning })
})

test('an error about something else than the ref ends the search for a longer one', async () => {
  const typed = read('https://github.com/acme/tools/tree/new/x')
  if (typed.kind !== 'address') throw new Error('the URL is no address')
  let count = 0
  const ask = async () => {
    count++
    return 'mount.unavailable'
  }
  expect(await chooseReading(typed, ask)).toMatchObject({ address: { ref: 'new', path: 'x' } })
  expect(count).toBe(1)
})
