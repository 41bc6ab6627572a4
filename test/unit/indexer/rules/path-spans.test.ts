import { describe, expect, test } from 'vitest'
import { readMarkdown } from '#indexer/rules/markdown.ts'

function pathsIn(text: string): string[] {
  const { links } = readMarkdown(text, { titleCharacters: 200, summaryCharacters: 200 })
  return links.filter(({ kind }) => kind === 'path').map(({ target }) => target)
}

describe('a code span asks for a file of the skill', () => {
  test.each([
    'Run `scripts/collect.sh`, then continue.',
    'For details see `references/steps.md`.',
    '- `references/steps.md` - every step',
    '- **`references/deep/steps.md`**: every step',
    '| Topic | File |\n|---|---|\n| Steps | `reference/steps.md` |',
    'Load `./references/steps.md` when:',
    'If detailed examples are required, open `resources/playbook.md`.',
    '- `scripts/check.py`: checks the input',
    '**Reference:** See `assets/template.yaml`',
    '1. **Start**: Use `assets/template.py` as a starting point',
    '## Patterns → `reference/playbook.md`',
    '详见 `references/steps.md`。',
  ])('%s', text => expect(pathsIn(text)).toHaveLength(1))
})

describe('a code span that names no certain file of the skill asks for none', () => {
  test.each([
    ['a pattern', 'Read `references/*.md` and `references/<topic>.md`.'],
    ['a command', 'Run `python scripts/collect.py --all`.'],
    ['a folder', 'See `references/`.'],
    ['another folder', 'Look at `src/index.ts` and `docs/guide.md`.'],
    ['a file of the project', 'The package script calls tools in `scripts/build.sh` of the project.'],
    ['a file deep below scripts', 'Use `scripts/training/run.py` for training.'],
    ['an example', 'Long material is split, e.g. into `references/finance.md`.'],
    ['an example', 'Example: `scripts/rotate_pdf.py` for rotation'],
    ['a file to be made', 'Create `references/notes.md` with the findings.'],
    ['a file to be made', 'Save the result to `assets/result.json`.'],
    ['a file to be made', '- `references/criteria.md` created with correct patterns'],
    ['a file of another skill', "It follows `other-skill`'s `references/schema.md`."],
    ['a file of a project', '- `scripts/verify.py` is reachable from the tag.'],
    ['a file that is copied', '- `templates/index.html` → `~/dashboard/templates/`'],
    ['the text of a link', '[`references/steps.md`](https://example.org/steps.md)'],
    ['a forbidden file', 'Do not use `references/old.md`.'],
  ])('%s: %s', (_what, text) => expect(pathsIn(text)).toEqual([]))

  test('and neither does one of a text about skills, whose paths are examples', () => {
    const about = 'A `SKILL.md` is short. Every SKILL.md has front matter. Keep SKILL.md lean.\n\nSee `references/api.md`.\n'
    expect(pathsIn(about)).toEqual([])
  })
})

describe('a text that resembles a link', () => {
  const linksIn = (text: string) =>
    readMarkdown(text, { titleCharacters: 200, summaryCharacters: 200 }).links.filter(({ kind }) => kind === 'link')

  test.each([
    ['a call', 'The hook calls handlers[event](payload.data) once, and fns()[0](x.y).'],
    ['a comment for a linter', '[//]: # (Keep this.)\n\n[comment]: <> (Nor this.)\n\n<!-- markdownlint-disable MD013 -->\n'],
    ['a definition that is not used', 'Text.\n\n[x]: url\n[log]: result.json\n'],
  ])('%s', (_what, text) => expect(linksIn(text)).toEqual([]))

  test('a link after a word of another script is one', () => {
    expect(linksIn('参见[文档](x.md)')).toEqual([{ kind: 'link', target: 'x.md' }])
  })
})

test('thousands of code spans in one paragraph are read in time that grows with their number', () => {
  const spans = Array.from({ length: 3_000 }, (_, n) => `see \`references/f${n}.md\``).join(' ')
  expect(pathsIn(spans)).toHaveLength(3_000)
})
