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

const SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  '2026-07-28': [
    'server-stateless',
    'http-header-validation',
    'tools-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'caching',
    'dns-rebinding-protection',
  ],
  // Of the skills extension, which belongs to no revision.
  extensions: ['sep-2640-skills-enumeration', 'sep-2640-skills-manifest', 'sep-2640-skills-directory'],
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'],
}

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

describe.each(Object.entries(SCENARIOS))('by %s', (revision, scenarios) => {
  test.each(scenarios)('%s', async scenario => {
    const version = revision === 'extensions' ? [] : ['--spec-version', revision]
    const options = ['--url', `${origin}/mcp/local/acme/tools`, '--scenario', scenario, ...version]
    const { stdout } = await run(process.execPath, [SUITE, 'server', ...options, '--expected-failures', BASELINE], {
      cwd: tmpdir(),
      env: { PATH: process.env.PATH, NO_COLOR: '1' },
    }).catch((error: { stdout?: string }) => ({ stdout: `the suite found faults:\n${error.stdout}` }))
    expect(stdout).not.toContain('the suite found faults')
    expect(stdout).toMatch(/Passed: [1-9]/)
  })
})
