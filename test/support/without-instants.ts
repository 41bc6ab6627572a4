/** The body of an answer, apart from when something was indexed. */
export function withoutInstants(body: string): string {
  return body.replaceAll(/"indexedAt":"[^"]*"/g, '"indexedAt":""')
}
