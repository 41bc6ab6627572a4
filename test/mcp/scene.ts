import type { AddressInfo } from 'node:net'
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { TestApp } from '#test/support/test-app.ts'

/** Has a service of a test listen. @returns its origin */
export async function listen({ app }: TestApp): Promise<string> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
}

/** A client of the newest revision, connected. */
export async function connect(url: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return client
}

export function textOf({ content }: Pick<CallToolResult, 'content'>): string {
  return content.map(block => (block.type === 'text' ? block.text : '')).join('\n')
}

export const REVISION = '2026-07-28'

export interface Sent {
  headers: Record<string, string>
  payload: string
}

/** One message as a client of the newest revision sends it. */
export function message(method: string, params: Record<string, unknown> = {}): Sent {
  const { name } = params
  return {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
    payload: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': REVISION,
          'io.modelcontextprotocol/clientCapabilities': {},
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        },
      },
    }),
  }
}

/** The same as clients of older revisions send it, who are answered by a stream. */
export function legacy({ headers, payload }: Sent): Sent {
  const { _meta, ...params } = JSON.parse(payload).params
  const { 'mcp-method': _method, 'mcp-name': _name, ...others } = headers
  return {
    headers: { ...others, 'mcp-protocol-version': '2025-11-25' },
    payload: JSON.stringify({ ...JSON.parse(payload), params }),
  }
}
