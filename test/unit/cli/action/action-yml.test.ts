import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { differenceOutputs } from '#cli/action/difference.ts'
import { readInputs } from '#cli/action/inputs.ts'
import { outputsOf } from '#cli/action/outcome.ts'
import { ACTION_FOLDER } from '#test/support/action.ts'

// https://docs.github.com/actions/reference/workflows-and-actions/metadata-syntax, as far as a JavaScript action goes
const Name = z.string().regex(/^[a-z_][a-z0-9_-]*$/)
const Description = z.string().min(1)
const ActionFile = z.strictObject({
  name: z.string().min(1),
  author: z.string(),
  // What the marketplace takes.
  description: Description.max(125),
  branding: z.strictObject({
    icon: z.enum(['eye', 'layers', 'search', 'book-open']),
    color: z.enum(['white', 'black', 'yellow', 'blue', 'green', 'orange', 'red', 'purple', 'gray-dark']),
  }),
  inputs: z.record(Name, z.strictObject({ description: Description, default: z.string() })),
  outputs: z.record(Name, z.strictObject({ description: Description })),
  runs: z.strictObject({ using: z.literal('node24'), main: z.literal('dist/index.mjs') }),
})

const action = ActionFile.parse(load(await readFile(join(ACTION_FOLDER, 'action.yml'), 'utf8')))

test('every input is read, and none that is not described', () => {
  const asked: string[] = []
  const inputs = readInputs(name => {
    asked.push(name)
    return name === 'service' ? 'https://skills.test' : (action.inputs[name]?.default ?? '')
  })
  expect(asked.sort()).toEqual(Object.keys(action.inputs).sort())
  expect(inputs).toMatchObject({ mode: 'prewarm', timeout: 600, checkout: '.' })
})

test('every output is made, and none that is not described', () => {
  const outcome = { address: '', commit: '', page: null, skills: 0, documents: 0, isPartial: false, diagnostics: [] }
  const made = { ...outputsOf(outcome), ...differenceOutputs({ items: [] }) }
  expect(Object.keys(made).sort()).toEqual(Object.keys(action.outputs).sort())
})
