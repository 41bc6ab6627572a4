/** The program of the command, on a Node that can run it: of a checkout and, bundled, of the package. */
import { ignoreClosedPipes, whenLeftByNpm } from '../scripts/setup/runtime.mjs'

const END_MS = 2_000

export async function start() {
  ignoreClosedPipes()
  whenLeftByNpm(() => process.kill(process.pid, 'SIGTERM'))
  const { runCommands } = await import('../cli/commands.ts')
  // What a failed command left open does not hold the process.
  if (await runCommands(process.argv, process.env)) setTimeout(() => process.exit(), END_MS).unref()
}
