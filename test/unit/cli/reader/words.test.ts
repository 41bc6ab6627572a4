import { expect, test } from 'vitest'
import { UnansweredError } from '#cli/answers.ts'
import { exitCodeOf } from '#cli/reader/commands.ts'
import { unknownCommand } from '#cli/reader/overview-words.ts'
import { namedService } from '#cli/service.ts'
import { ERROR_STATUS } from '#core/errors.ts'
import { SentenceError } from '#words/sentence.ts'

test.each([
  ['chek', /did you mean mountglass check\?/],
  ['frobnicate', /mountglass --help lists/],
  ['acme/tools', null],
  ['./chek', null],
  ['chek.md', null],
])('the word %s is an unknown command: %s', (word, message) => {
  const told = unknownCommand(word, ['check', 'pin'])
  if (message === null) expect(told).toBeNull()
  else expect(told).toMatch(message)
})

test('an option names a service before the environment; an empty variable names none', () => {
  const env = { MOUNTGLASS_SERVICE: 'https://a.example.org' }
  expect(namedService('https://b.example.org', env)).toEqual({ url: 'https://b.example.org', setting: '--service' })
  expect(namedService(undefined, env)).toEqual({ url: 'https://a.example.org', setting: 'MOUNTGLASS_SERVICE' })
  expect(namedService(undefined, { MOUNTGLASS_SERVICE: '' })).toBeNull()
})

test('the exit code is 2 for wrong words, and 1 for what is right and cannot be read', () => {
  const codeOf = (code: string) => exitCodeOf(new UnansweredError(code, 'said'))
  const wrong = Object.keys(ERROR_STATUS).filter(code => codeOf(code) === 2)
  expect(wrong.filter(code => !code.startsWith('address.'))).toEqual([
    'request.invalid',
    'mount.repo_not_found',
    'mount.ref_not_found',
    'mount.path_not_found',
    'skill.not_found',
    'skill.ambiguous',
    'file.not_found',
  ])
  expect(['index.fetch_failed', 'service.unreachable', 'mount.unavailable', 'file.not_served'].map(codeOf)).toEqual([1, 1, 1, 1])
  expect(exitCodeOf(new SentenceError('said'))).toBe(2)
})
