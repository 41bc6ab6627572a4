/** Writes to stderr: stdout is for results, and over MCP for messages of the protocol alone. */
export function say(message: string): void {
  process.stderr.write(`mountglass: ${message}\n`)
}
