import { describe, expect, test } from 'vitest'
import { codePlaceOf, commandAt, commandsIn } from '#indexer/rules/commands.ts'

const told = (text: string, place: 'markup' | 'script' = 'markup') =>
  [...commandsIn(text, place)].map(({ command, line }) => `${line} ${command}`)

test.each([
  'curl https://x.example | sh',
  'curl -fsSL "https://x.example/?a=1&b=2" | sudo -E bash -',
  'curl https://x.example \\\n  | sh',
  'wget -qO- x|bash',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
  'curl ${URL} | python3 -',
  '(curl x) | (sh)',
  'bash <(curl -s x)',
  'sh -c "$(curl -fsSL x)"',
  'iwr https://x.example | iex',
  'iex (irm x)',
  'npx some-package',
  'FOO=1 npx some-package',
  'uvx tool',
  'pipx run tool',
  'bunx tool',
  'pnpm dlx tool',
  'yarn dlx tool',
  'pip install x',
  'pip3 install --user x',
  'python3 -m pip install x',
  '!pip install x',
  'subprocess.run(["pip", "install", "x"])',
  'npm install -g x',
  'npm i x --global',
  'sudo ls',
  'if true; then sudo ls; fi',
  'eval "$(x)"',
  'eval(code)',
  'chmod +x a',
  'chmod a+x a',
  'x | base64 -d',
  'base64 --decode x',
  'rm -rf /',
  'rm -r -f x',
  '/bin/rm --recursive --force x',
  'ssh host',
  'scp a host:',
  'os.system("rm -rf /tmp/x")',
])('%s is reported', code => {
  expect(commandAt(code)).toBeGreaterThanOrEqual(0)
})

test.each([
  'npx',
  'echo npx is a runner',
  'npm install x',
  'pip list',
  'rm -r x',
  'rm -f x',
  'curl x || sh y',
  'curl x -o y',
  'sh x | curl y',
  'ssh = connect()',
  'base64 x',
  'chmod 644 x',
  'git commit -m "sudo it"',
  'https://x.example/npx y',
  'evaluate x',
])('%s is none', code => {
  expect(commandAt(code)).toBe(-1)
})

describe('of Markdown', () => {
  test('stand in blocks of shells, after a prompt in blocks without a language, and in spans', () => {
    const text = `Run \`npx a\` or npx b.

\`\`\`bash
$ npx c
# npx d
npx e
\`\`\`

\`\`\`
npx f
$ npx g
\`\`\`

\`\`\`js
npx h
\`\`\`
`
    expect(told(text)).toEqual(['1 npx a', '4 npx c', '6 npx e', '11 npx g'])
  })

  test('stand in lists and quotations, between tildes, and in a block that does not end', () => {
    expect(told('1. Do\n   ~~~sh\n   npx a\n   ~~~\n> ```console\n> $ npx b\n> ```\n- ```zsh\n  npx c')).toEqual([
      '3 npx a',
      '6 npx b',
      '9 npx c',
    ])
  })

  test('a span ends at as many backticks, on a later line too, and not beyond its paragraph', () => {
    expect(told('``npx `a` ``\n`npx\nb` and `sudo\n\nc`')).toEqual(['1 npx `a`', '2 npx\nb'])
  })

  test('lines that a command spans are one', () => {
    expect(told('```sh\ncurl x |\n  sh\nnpm install \\\n  -g x\n```\n')).toEqual(['2 curl x |\n  sh', '4 npm install \\\n  -g x'])
  })
})

test('of a script stand on any line but in comments', () => {
  expect(told('#!/bin/sh\n# sudo a\nsudo b\n  sudo c\r\n', 'script')).toEqual(['3 sudo b', '4 sudo c'])
})

test.each([
  ['a comment that ends like a continued line', '# a \\\nsudo b', '2 sudo b'],
  ['a backslash that is escaped', 'echo a\\\\\nsudo b', '2 sudo b'],
  ['a backslash before a space', 'echo a \\ \nsudo b', '2 sudo b'],
  ['a folder whose name ends the line', 'dir C:\\\nnpx b', '2 npx b'],
  ['a comment behind a pipe', 'curl x |\n# b\nsh', '1 curl x |\nsh'],
  ['a comment on the line of a pipe', 'curl x | # b\nsh', '1 curl x |\nsh'],
  ['a text like a comment', 'echo "| # "; sudo b', '1 echo "| # "; sudo b'],
  ['an empty line behind a pipe', 'curl x |\n\nsh', '1 curl x |\nsh'],
  ['a comment that a carriage return ends', '# a\rsudo b\n', '1 sudo b'],
])('%s does not hide the next command', (_, text, expected) => {
  expect(told(text, 'script')).toEqual([expected])
})

test('packages in a list of arguments are no commands', () => {
  expect(told('apt-get install -y \\\n  sudo \\\n  ssh\n', 'script')).toEqual([])
})

test.each([
  ['a.md', '', false, 'markup'],
  ['a.md', '', true, 'markup'],
  ['a.txt', '', false, 'markup'],
  ['a.sh', '', false, 'script'],
  ['bin/tool', '#!/usr/bin/env node\n', false, 'script'],
  ['bin/tool', '\ufeff#!/bin/sh\n', false, 'script'],
  ['bin/tool', '', true, 'script'],
  ['Makefile', '', false, 'script'],
  ['data.json', '', false, null],
])('%s with the text %j, executable: %s, has the commands %s', (path, text, isExecutable, place) => {
  expect(codePlaceOf(path, text, isExecutable)).toBe(place)
})

test.each([
  ['backticks', '`'],
  ['runs of backticks', '` `` '],
  ['words', 'sudo='],
  ['pipes', '|('],
  ['marks of lists', '- '],
  ['marks of quotations', '> '],
  ['ends that go on', '\\\n'],
  ['comments behind pipes', '| #'],
  ['blocks', '```\n$ x\n'],
])('a mebibyte of %s is read to its end', (_, repeated) => {
  const text = `${repeated.repeat(1_048_576 / repeated.length)}\n\n\`npx a\`\n`
  expect([...commandsIn(text, 'markup')].length).toBeLessThanOrEqual(1)
  expect([...commandsIn(text, 'script')].length).toBeLessThanOrEqual(1)
})
