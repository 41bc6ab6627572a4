#!/usr/bin/env node
/** The command of a checkout. Starts on any Node from 20 on and continues under the one that runs TypeScript. */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findNode, keepCompiledSources, NODE_MISSING, runInForeground } from '../scripts/setup/runtime.mjs'
import { start } from './start.mjs'

const file = realpathSync(fileURLToPath(import.meta.url))
const root = dirname(dirname(file))
const node = findNode(root)

if (!existsSync(join(root, 'node_modules', 'commander'))) fail('the packages are not installed: run npm ci')
else if (node === null) fail(NODE_MISSING)
else if (realpathSync(node) !== realpathSync(process.execPath))
  process.exitCode = await runInForeground(node, [file, ...process.argv.slice(2)])
else {
  keepCompiledSources(root)
  await start()
}

/** @param {string} message */
function fail(message) {
  process.stderr.write(`mountglass: ${message}\n`)
  process.exitCode = 1
}
