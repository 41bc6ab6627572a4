/** `npm start`: set-up, then `mountglass serve`. Runs on the installed Node, 20 or later, without packages. */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prepare } from './setup/prepare.mjs'
import { runInForeground } from './setup/runtime.mjs'
import { StepError } from './setup/step.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

try {
  const node = await prepare(root, { withDev: false })
  process.exitCode = await runInForeground(node, [join(root, 'bin', 'mountglass.mjs'), 'serve', ...process.argv.slice(2)])
} catch (error) {
  if (!(error instanceof StepError)) throw error
  process.stderr.write(`mountglass: ${error.message}\n`)
  process.exitCode = 1
}
