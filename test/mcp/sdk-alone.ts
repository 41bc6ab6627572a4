import { createMcpHandler } from '@modelcontextprotocol/server'
import { introduce } from '#api/mcp/instructions.ts'
import { KeptResults } from '#api/mcp/kept-results.ts'
import { createServer } from '#api/mcp/server.ts'
import { createSkillSource } from '#api/mcp/skill-source.ts'
import { ANONYMOUS } from '#api/people/viewer.ts'
import { isSourceServed } from '#api/reading/file-page.ts'
import { addressHandlers } from '#api/routes/address-endpoints.ts'
import { parseAddress } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import { TOOL_BYTES } from '#core/limits.ts'
import type { TestApp } from '#test/support/test-app.ts'
import type { Sent } from './scene.ts'

export type Answered = [status: number, body: string]

export async function answerOfService({ app }: TestApp, path: string, sent: Sent): Promise<Answered> {
  const { statusCode, body } = await app.inject({ method: 'POST', url: `/mcp${path}`, ...sent })
  return [statusCode, body]
}

/** What the SDK alone answers, with results that it holds whole. @param path of a local address */
export async function answerOfSdk({ deps }: TestApp, path: string, { headers, payload }: Sent): Promise<Answered> {
  const handlers = addressHandlers(deps)
  const address = parseAddress(path, ['local'])
  const { instructions } = await introduce(handlers, address, ANONYMOUS, JSON.parse(payload))
  const handler = createMcpHandler(() =>
    createServer(
      {
        handlers,
        maxBytes: TOOL_BYTES.default,
        kept: new KeptResults(),
        readAddress: text => parseAddress(text, ['local']),
        isSourceServed: of => isSourceServed(deps, of),
        openSkills: of => createSkillSource(deps, of),
        toServiceError: thrown => (thrown instanceof ServiceError ? thrown : new ServiceError('service.internal')),
      },
      { address, viewer: ANONYMOUS, instructions, withSkills: true, held: null },
    ),
  )
  const request = new Request(`https://mountglass.test/mcp${path}`, { method: 'POST', headers, body: payload })
  const answer = await handler.fetch(request)
  const body = await answer.text()
  await handler.close()
  return [answer.status, body]
}
