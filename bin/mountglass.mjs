#!/usr/bin/env node
/** The command. Starts on any Node from 20 on and continues under the one that runs TypeScript. */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  findNode,
  ignoreClosedPipes,
  keepCompiledSources,
  NODE_MISSING,
  runInForeground,
  whenLeftByNpm,
} from '../scripts/setup/runtime.mjs'

const END_MS = 2_000

const file = realpathSync(fileURLToPath(import.meta.url))
const root = dirname(dirname(file))
const node = findNode(root)

if (!existsSync(join(root, 'node_modules', 'commander'))) fail('the packages are not installed: run npm ci')
else if (node === null) fail(NODE_MISSING)
else if (realpathSync(node) !== realpathSync(process.execPath))
  process.exitCode = await runInForeground(node, [file, ...process.argv.slice(2)])
else {
  ignoreClosedPipes()
  keepCompiledSources(root)
  whenLeftByNpm(() => process.kill(process.pid, 'SIGTERM'))
  const { runCommands } = await import('../cli/commands.ts')
  // What a failed command left open does not hold the process.
  if (await runCommands(process.argv, process.env)) setTimeout(() => process.exit(), END_MS).unref()
}

/** @param {string} message */
function fail(message) {
  process.stderr.write(`mountglass: ${message}\n`)
  process.exitCode = 1
}
