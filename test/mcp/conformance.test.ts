import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { listen } from './scene.ts'

/*
 * The conformance suite of the protocol's authors. `baseline.yml` names the checks that need a server made for the suite, one by one.
 */

const run = promisify(execFile)
const SUITE = join(import.meta.dirname, '..', '..', 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js')
const BASELINE = join(import.meta.dirname, 'baseline.yml')

/** Of each revision: the suite also has scenarios for tools and prompts that a server makes for it, which fail here. */
const SCENARIOS = {
  '2026-07-28': [
    'server-stateless',
    'http-header-validation',
    'tools-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'caching',
    'dns-rebinding-protection',
  ],
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'],
}

/** Of the skills extension, which belongs to no revision. */
const OF_EXTENSION = ['sep-2640-skills-enumeration', 'sep-2640-skills-manifest', 'sep-2640-skills-directory']

let app: TestApp
let origin: string
beforeAll(async () => {
  app = await testApp(
    {
      'acme/tools': {
        'package.json': '{"license":"MIT"}\n',
        'one/SKILL.md': '---\nname: one\ndescription: One.\n---\nDo it.\n',
        'one/references/more.md': 'More.\n',
        'one/logo.png': new Uint8Array([0x89, 0x50, 0xff, 0]),
      },
    },
    { baseUrl: 'http://127.0.0.1' },
  )
  await app.open('/local/acme/tools')
  origin = await listen(app)
})
afterAll(() => app.close())

/** What the suite says of the server. It fails where more fails than the baseline names. */
async function ask(...options: string[]): Promise<{ said: string; code: number }> {
  const args = [SUITE, 'server', '--url', `${origin}/mcp/local/acme/tools`, ...options, '--expected-failures', BASELINE]
  const env = { PATH: process.env.PATH, NO_COLOR: '1' }
  return run(process.execPath, args, { cwd: tmpdir(), env }).then(
    ({ stdout }) => ({ said: stdout, code: 0 }),
    (error: { stdout: string; code: number }) => ({ said: error.stdout, code: error.code }),
  )
}

// One process for all scenarios of a revision: it takes longer to start than a scenario.
describe.each(Object.entries(SCENARIOS))('by %s', (revision, scenarios) => {
  let summary: string
  let unexpected: string
  beforeAll(async () => {
    const { said } = await ask('--suite', 'all', '--spec-version', revision)
    const [, all = ''] = said.split('=== SUMMARY ===')
    ;[summary = '', unexpected = ''] = all.split('Unexpected failures (not in baseline):')
  })

  test.each(scenarios)('%s', scenario => {
    expect(summary).toMatch(new RegExp(`^[✓✗] ${scenario}: [1-9]\\d* passed`, 'm'))
    expect(summary).not.toContain('Stale baseline entries')
    // What the suite makes for itself is missing, so there are some.
    expect(unexpected).toContain('✗ tools-call-simple-text')
    expect(unexpected).not.toMatch(new RegExp(`✗ ${scenario}(?:$|:)`, 'm'))
  })
})

test.each(OF_EXTENSION)('by the skills extension: %s', async scenario => {
  const { said, code } = await ask('--scenario', scenario)
  expect({ said, code }).toEqual({ said: expect.stringMatching(/Passed: [1-9]/), code: 0 })
})
