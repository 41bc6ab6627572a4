import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.mjs'
import { openActionScene } from './action-scene.ts'

const scene = await openActionScene()
const { action, repositories, github, service } = scene
const { commit, variables, push } = await scene.createTools('tools')

afterAll(scene.close)

test('prewarm: the commit of a push is indexed when the step ends, and the workflow shows the counts', async () => {
  const ran = await action.run({ inputs: { service: service.baseUrl }, env: variables(commit), event: await push(commit) })
  const address = `/gh/acme/tools@${commit}`
  const page = `${service.baseUrl}${address}`
  expect(ran.log).toContain('the commit is being indexed')
  expect(ran.outputs).toEqual({ address, commit, page, skills: '1', documents: '1' })
  expect(ran.log).toMatch(/^::(error|warning) title=manifest\.\w+,file=broken\/SKILLSET\.md::/m)
  expect(ran.summary).toContain(`<a href="${page}">`)
  expect(ran.summary).toContain('broken/SKILLSET.md')
  expect(ran.code).toBe(0)
  const mount = await fetch(`${service.baseUrl}/api/v1/mounts${address}`)
  expect(await mount.json()).toMatchObject({ pinned: true, commit, index: { status: 'ready' } })
  expect(github.mistakes).toEqual([])
})

test('prewarm: a pull request indexes the last commit of its own repository', async () => {
  const fork = await repositories.create('visitor', 'tools')
  const head = await fork.commit({ 'package.json': '{"license":"MIT"}\n', 'docs/guide.md': '# Their guide\n' })
  const ran = await action.run({
    inputs: { service: service.baseUrl },
    env: variables('c'.repeat(40), { GITHUB_EVENT_NAME: 'pull_request', GITHUB_REF: 'refs/pull/1/merge' }),
    event: { pull_request: { head: { sha: head, repo: { full_name: 'visitor/tools' } } } },
  })
  expect(ran.outputs).toMatchObject({ address: `/gh/visitor/tools@${head}`, documents: '1' })
  expect(ran.code).toBe(0)
})

test('prewarm: a repository that the deployment cannot see fails the step with its code', async () => {
  const ran = await action.run({
    inputs: { service: service.baseUrl },
    env: variables(commit, { GITHUB_REPOSITORY: 'acme/nothing' }),
    event: await push(commit),
  })
  expect(ran.log).toMatch(/^::error::mount\.repo_not_found: /m)
  expect(ran).toMatchObject({ code: 1, outputs: {}, summary: '' })
})

test('prewarm: a deployment that does not answer fails the step after the timeout', async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`
  const ran = await action.run({ inputs: { service: nowhere, timeout: '1' }, env: variables(commit), event: await push(commit) })
  expect(ran.log).toMatch(/^::error::the index is not ready after 1 seconds: cannot reach the deployment/m)
  expect(ran.code).toBe(1)
})

test('prewarm: text of a deployment is no command to the runner', async () => {
  const message = 'busy\n::set-output name=page::https://evil.example\r::stop-commands::x\u2028 #\u200b#[add-mask]a ##[add-mask]b'
  const error = { code: '::add-mask::c', message }
  const statuses = [503]
  const server = createServer((_request, response) => {
    response.writeHead(statuses.pop() ?? 403, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise(resolve => server.close(() => resolve())))
  const inputs = { service: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  const ran = await action.run({ inputs, env: variables(commit), event: await push(commit) })
  expect(ran.log).toContain('waiting: ::add-mask::c: busy')
  // The runner reads no other breaks of lines.
  const lines = ran.log.split(/[\r\n]/).map(line => line.trim())
  const commands = lines.filter(line => line.startsWith('::'))
  expect(commands.map(line => line.slice(0, 9))).toEqual(['::error::'])
  expect(lines.filter(line => !commands.includes(line)).join('\n')).not.toContain('##[')
})

test('prewarm: a server that is no deployment is detected', async () => {
  const ran = await action.run({ inputs: { service: github.origins.web }, env: variables(commit), event: await push(commit) })
  expect(ran.log).toMatch(/^::error::/m)
  expect(ran.code).toBe(1)
})

test('an input that is wrong is named', async () => {
  const ran = await action.run({ inputs: {}, env: variables(commit), event: await push(commit) })
  expect(ran.log).toContain('::error::input service: is required in mode prewarm')
  expect(ran.code).toBe(1)
})
