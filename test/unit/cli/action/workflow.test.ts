import { expect, test } from 'vitest'
import { InputError, readInputs } from '#cli/action/inputs.ts'
import { annotationsOf, type Outcome, outputsOf, summaryOf } from '#cli/action/outcome.ts'
import { readWorkflow, WorkflowError } from '#cli/action/workflow.ts'

const SHA = 'a'.repeat(40)
const OTHER = 'b'.repeat(40)
const PUSH = {
  GITHUB_REPOSITORY: 'acme/tools',
  GITHUB_REPOSITORY_ID: '42',
  GITHUB_SHA: SHA,
  GITHUB_REF: 'refs/heads/main',
  GITHUB_EVENT_NAME: 'push',
}
const RUN = { owner: 'acme', name: 'tools', commit: SHA, repositoryId: '42', apiUrl: 'https://api.github.com' }

test('a push is about its commit, in the repository on which the workflow runs', () => {
  expect(readWorkflow(PUSH, { repository: { visibility: 'public' } })).toEqual(RUN)
})

test('on an Enterprise Server its own API is used', () => {
  const apiUrl = 'https://github.example.org/api/v3'
  expect(readWorkflow({ ...PUSH, GITHUB_API_URL: apiUrl }, {})).toEqual({ ...RUN, apiUrl })
})

test.each([{ GITHUB_EVENT_NAME: 'pull_request' }, { GITHUB_EVENT_NAME: 'pull_request_review', GITHUB_REF: 'refs/pull/1/merge' }])(
  'a pull request stands for its own last commit in its own repository, and never for the merge commit: %j',
  variables => {
    const payload = { pull_request: { head: { sha: OTHER, repo: { full_name: 'fork/tools' } } } }
    const run = readWorkflow({ ...PUSH, ...variables }, payload)
    expect(run).toEqual({ ...RUN, owner: 'fork', commit: OTHER, repositoryId: null })
  },
)

test('a pull request whose repository was deleted is refused with that reason', () => {
  const payload = { pull_request: { head: { sha: OTHER, repo: null } } }
  expect(() => readWorkflow({ ...PUSH, GITHUB_EVENT_NAME: 'pull_request' }, payload)).toThrow(WorkflowError)
})

test.each([undefined, null, 'text', {}])('other fields of an event are ignored: %j', payload => {
  expect(readWorkflow(PUSH, payload)).toEqual(RUN)
})

test('outside a workflow the missing variable is named', () => {
  expect(() => readWorkflow({}, {})).toThrow(/GITHUB_REPOSITORY is missing/)
  expect(() => readWorkflow({ ...PUSH, GITHUB_SHA: 'main' }, {})).toThrow(/GITHUB_SHA/)
})

const DEFAULTS = {
  mode: 'prewarm',
  from: '',
  'fail-on': '',
  service: '',
  store: '',
  role: '',
  audience: 'sts.amazonaws.com',
  token: '',
  checkout: '.',
  timeout: '600',
}
const inputs = (given: Record<string, string>) => readInputs(name => ({ ...DEFAULTS, ...given })[name] ?? '')

test('inputs are read as documented by the Action', () => {
  expect(inputs({ service: 'https://skills.test/' })).toEqual({ ...DEFAULTS, service: 'https://skills.test', timeout: 600 })
  expect(inputs({ mode: 'build', store: 's3:bucket/prefix' })).toMatchObject({
    mode: 'build',
    service: null,
    store: 's3:bucket/prefix',
  })
})

test.each([
  [{ mode: 'warm' }, 'input mode: must be prewarm, build, check or diff'],
  [{}, 'input service: is required in mode prewarm'],
  [{ mode: 'build' }, 'input store: is required in mode build'],
  [{ mode: 'build', store: 'disk:here' }, 'input store: must be s3:'],
  [{ service: 'skills.test' }, 'input service: must be an origin'],
  [{ service: 'https://skills.test/path' }, 'input service: must be an origin'],
  [{ service: 'ftp://skills.test' }, 'input service: must be an origin'],
  [{ service: 'https://user@skills.test' }, 'input service: must be an origin'],
  [{ service: 'https://skills.test', timeout: '0' }, 'input timeout: must be'],
  [{ service: 'https://skills.test', timeout: '3601' }, 'input timeout: must be'],
  [{ service: 'https://skills.test', timeout: '1e2' }, 'input timeout: must be'],
])('%j: %s', (given, message) => {
  expect(() => inputs(given)).toThrow(InputError)
  expect(() => inputs(given)).toThrow(message)
})

const OUTCOME: Outcome = {
  address: `/gh/acme/tools@${SHA}`,
  commit: SHA,
  page: `https://skills.test/gh/acme/tools@${SHA}`,
  skills: 2,
  documents: 3,
  isPartial: false,
  diagnostics: [],
}

test('outputs have the names of action.yml', () => {
  expect(outputsOf(OUTCOME)).toEqual({ address: OUTCOME.address, commit: SHA, page: OUTCOME.page, skills: '2', documents: '3' })
  expect(outputsOf({ ...OUTCOME, page: null })).toMatchObject({ page: '' })
})

test('text of a repository is escaped in the summary', () => {
  const summary = summaryOf({
    ...OUTCOME,
    isPartial: true,
    diagnostics: [
      { code: 'manifest.unreadable', severity: 'error', path: 'a|b/<img src=x>`[x](y)', message: 'line\n| <b>bold</b> |' },
    ],
  })
  expect(summary).toContain(`<a href="${OUTCOME.page}">`.replaceAll('_', '&#95;'))
  expect(summary).toContain('part of the repository is not indexed')
  expect(summary).not.toMatch(/<img|<b>|\]\(y\)/)
  expect(summary.split('\n').filter(line => line.includes('unreadable'))).toHaveLength(1)
})

test('annotations are sorted worst first, up to a limit', () => {
  const diagnostic = (severity: 'error' | 'warning' | 'info', index: number) => ({
    code: 'c',
    severity,
    path: `p${index}`,
    message: 'm',
  })
  const diagnostics = [
    diagnostic('info', 0),
    ...Array.from({ length: 12 }, (_, index) => diagnostic('warning', index)),
    diagnostic('error', 1),
  ]
  const annotations = annotationsOf({ ...OUTCOME, diagnostics })
  expect(annotations.map(({ severity }) => severity)).toEqual(['error', ...Array(10).fill('warning'), 'notice'])
  expect(annotations[0]).toEqual({ severity: 'error', title: 'c', message: 'm', file: 'p1' })
})

test('an annotation of a finding has its line and what to do, and one of the whole repository no file', () => {
  const finding = { code: 'c', severity: 'error', path: 'a/SKILL.md', line: 7, message: 'm', advice: 'mend it' } as const
  expect(annotationsOf({ ...OUTCOME, diagnostics: [finding, { ...finding, path: '', line: undefined }] })).toEqual([
    { severity: 'error', title: 'c', message: 'm\nmend it', file: 'a/SKILL.md', startLine: 7 },
    { severity: 'error', title: 'c', message: 'm\nmend it' },
  ])
  expect(summaryOf({ ...OUTCOME, address: null, commit: null, diagnostics: [finding] })).toMatch(
    /\| Documents \| 3 \|\n\n.*\n.*\n\| <code>c<\/code> \| <code>a\/SKILL\.md:7<\/code> \| m \|/,
  )
})
