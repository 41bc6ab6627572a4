/** `npm run check`: lint, types and unused code, without set-up and tests. */
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runChecks } from './setup/checks.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const failed = await runChecks(root, process.execPath)
if (failed.length > 0) process.exitCode = 1
