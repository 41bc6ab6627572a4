import { expect, test } from 'vitest'
import { readTypedPin } from '#cli/lock/typed-pin.ts'
import { NoAddressError } from '#cli/typed-repository.ts'

const CONTEXT = { hosts: ['gh', 'local'], baseUrl: 'https://skills.example.org' }

test.each([
  ['gh/acme/tools', ['/gh/acme/tools']],
  ['acme/tools@v1/skills', ['/gh/acme/tools@v1/skills']],
  ['https://skills.example.org/gh/acme/tools@main?view=browse', ['/gh/acme/tools@main']],
  ['https://skills.example.org/gh/acme/tools@main?view=browse&path=skills', ['/gh/acme/tools@main/skills']],
  ['https://skills.example.org/gh/acme/tools@v1?view=skill&path=skills/a%20b/SKILL.md', ['/gh/acme/tools@v1/skills/a%20b']],
  ['https://skills.example.org/gh/acme/tools?view=changes&from=v1&path=skills/pdf/SKILL.md', ['/gh/acme/tools/skills/pdf']],
  ['https://skills.example.org/gh/acme/tools?view=find&query=pdf', ['/gh/acme/tools']],
  ['gh/acme/tools/skills/pdf/SKILL.md', ['/gh/acme/tools/skills/pdf']],
  ['https://github.com/acme/tools/blob/main/SKILL.md', ['/gh/acme/tools@main']],
  [
    'https://github.com/acme/tools/tree/feature/x/skills',
    ['/gh/acme/tools@feature/x/skills', '/gh/acme/tools@feature%2Fx/skills', '/gh/acme/tools@feature%2Fx%2Fskills'],
  ],
])('%s is to be pinned', (text, addresses) => {
  expect(readTypedPin(text, CONTEXT)).toEqual(addresses)
})

test.each([
  ['gh/acme', /address\.incomplete|is an account/],
  ['https://github.com/acme/tools/blob/main/README.md', /is a file: name its folder/],
  ['https://skills.example.org/gh/acme/tools?view=file&path=README.md', /is a file: name its folder/],
  ['https://github.com/acme/tools/pull/7', /is a page of GitHub \(pull\)/],
  ['https://gitlab.com/acme/tools', /only addresses of this deployment/],
])('%s names nothing to pin', (text, says) => {
  expect(() => readTypedPin(text, CONTEXT)).toThrow(NoAddressError)
  expect(() => readTypedPin(text, CONTEXT)).toThrow(says)
})
