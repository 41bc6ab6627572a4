import { expect, test } from 'vitest'
import { hostsIn } from '#indexer/rules/text-facts.ts'

const hosts = (text: string) => hostsIn(text).map(([host]) => host)

test.each([
  ['an ideographic full stop', 'https://known.example。evil.example/x', 'known.example.evil.example'],
  ['a full stop of full width', 'https://known.example．ｅｖｉｌ.example/x', 'known.example.evil.example'],
  ['full stops alone', 'https://known.example。evil。example', 'known.example.evil.example'],
  ['a sign that a parser spells', 'https://known.example™.evil.example', 'known.exampletm.evil.example'],
  ['a comma', 'https://known.example,.evil.example/', 'known.example,.evil.example'],
  ['a variable of a shell', 'https://known.example$x.evil.example/', 'known.example$x.evil.example'],
  ['a quote in a name', "https://known.example'@evil.example/", 'evil.example'],
  ['a parenthesis in a name', 'https://known.example(x)@evil.example', 'evil.example'],
])('a host behind %s is one, too', (_, text, host) => {
  expect(hosts(text)).toEqual(['known.example', host])
})

test.each([
  'https://known.example, then evil.example',
  'https://known.example,https://known.example/',
  '**https://known.example**. Then',
  '(https://known.example). Then',
  '{"a":"https://known.example","b":"me@other.example"}',
  '见 https://known.example。然后 README.md',
  'https://known.example:8080,other',
  'https://name:word@known.example/',
  'https://known.example/a@b.example',
])('a sign behind a host ends it: %s', text => {
  expect(hosts(text)).toEqual(['known.example'])
})

test('a mebibyte of long hosts is read to its end', () => {
  for (const repeated of ['https:', '://', "https://a'@", 'https://a。b', 'https://a,'])
    expect(hosts(repeated.repeat(1_048_576 / repeated.length)).length).toBeLessThan(2_000)
})
