import { describe, expect, test } from 'vitest'
import { openTarget } from '#site/lib/open-address.ts'

const open = (words: string) => openTarget(words, { hosts: ['gh', 'local'], baseUrl: 'https://mountglass.example' })

describe('the address field', () => {
  test.each([
    ['local/acme/tools', '/local/acme/tools'],
    ['  /local/acme/tools@v1/docs/ ', '/local/acme/tools@v1/docs'],
    ['gh/acme/tools@feature%2Fx', '/gh/acme/tools@feature%2Fx'],
    ['local/acme/tools/日本 語', '/local/acme/tools/%E6%97%A5%E6%9C%AC%20%E8%AA%9E'],
    ['local/acme/tools/c#', '/local/acme/tools/c%23'],
    ['acme/tools', '/gh/acme/tools'],
    ['acme/tools@v1/docs', '/gh/acme/tools@v1/docs'],
    ['https://mountglass.example/local/acme/tools', '/local/acme/tools'],
    ['https://mountglass.example/local/acme/tools?view=file&path=a b.md#x', '/local/acme/tools?view=file&path=a+b.md'],
    ['/local/acme/tools?view=browse', '/local/acme/tools?view=browse'],
    ['https://github.com/acme/tools', '/gh/acme/tools'],
    ['http://www.github.com/acme/tools/', '/gh/acme/tools'],
    ['github.com/acme/tools.git', '/gh/acme/tools'],
    ['git@github.com:acme/tools.git', '/gh/acme/tools'],
    ['ssh://git@github.com/acme/tools', '/gh/acme/tools'],
    ['https://github.com/acme/tools/tree/main', '/gh/acme/tools@main'],
    ['https://github.com/acme/tools/tree/v1.0/skills/pdf?tab=readme#usage', '/gh/acme/tools@v1.0/skills/pdf'],
    ['https://github.com/acme/tools/blob/main/docs/c%2B%2B.md', '/gh/acme/tools@main?view=file&path=docs/c%2B%2B.md'],
    ['https://github.com/acme/tools/blob/main/skills/pdf/SKILL.md', '/gh/acme/tools@main?view=skill&path=skills/pdf/SKILL.md'],
    ['https://github.com/acme/tools/issues/1', '/gh/acme/tools'],
    ['gh/acme', '/owners/gh/acme'],
    ['/gh/acme/', '/owners/gh/acme'],
    ['https://github.com/acme', '/owners/gh/acme'],
    ['https://github.com/acme?tab=repositories', '/owners/gh/acme'],
    ['https://mountglass.example/owners/gh/acme?page=2', '/owners/gh/acme'],
  ])('takes %s to %s', (words, location) => {
    expect(open(words)).toEqual({ location })
  })

  test.each([
    ['', 'Write an address'],
    ['   ', 'Write an address'],
    ['nonsense', 'an address starts with gh/ or local/'],
    ['local/acme', 'it needs /<host>/<owner>/<repository>'],
    ['https://github.com/', 'it needs /<host>/<owner>/<repository>'],
    ['gh/ac.me', 'it needs /<host>/<owner>/<repository>'],
    ['https://gitlab.com/acme/tools', 'github.com'],
    ['javascript://x/%0aalert(1)', 'github.com'],
    ['//evil.example/x', 'Not an address'],
    ['local/acme/tools/%', 'percent-escape'],
    ['local/acme/tools/../x', '. or ..'],
    ['local/acme/tools\r\nset-cookie: a=b', 'Not an address'],
  ])('says what is wrong with %j', (words, part) => {
    expect(open(words)).toEqual({ message: expect.stringContaining(part) })
  })

  test('takes no GitHub address where GitHub is not served', () => {
    const target = openTarget('https://github.com/acme/tools', { hosts: ['local'], baseUrl: 'https://x.example' })
    expect(target).toEqual({ message: expect.stringContaining('starts with local/') })
  })

  test('takes no account where GitHub is not served', () => {
    for (const words of ['gh/acme', 'https://github.com/acme', '/owners/gh/acme'])
      expect(openTarget(words, { hosts: ['local'], baseUrl: 'https://x.example' }), words).toHaveProperty('message')
  })

  test('does not speak of GitHub where GitHub is not served', () => {
    const target = openTarget('https://gitlab.com/acme/tools', { hosts: ['local'], baseUrl: 'https://x.example' })
    expect(target).toEqual({ message: 'Only addresses of this deployment can be opened.' })
  })
})
