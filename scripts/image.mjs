/**
 * `npm run image`: makes the packed files of this checkout, and the image of them, with buildah, else with docker. Arguments go to the builder:
 * `npm run image -- --platform=linux/arm64 --build-arg=BASE_IMAGE=<Debian with Node and npm>`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInForeground } from './setup/runtime.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Programs that build an image, the best first. An image in the format of OCI has no health check. */
const BUILDERS = [
  { program: 'buildah', command: ['build', '--format=docker'] },
  { program: 'docker', command: ['build'] },
]

/**
 * The call that builds the image.
 *
 * @param {string} context the folder of the packed files
 * @param {readonly string[]} args of the builder
 * @returns {[program: string, ...args: string[]] | null} `null`: this machine has no builder
 */
export function imageCall(context, args, env = process.env) {
  const places = (env.PATH ?? '').split(delimiter)
  const builder = BUILDERS.find(({ program }) => places.some(place => existsSync(join(place, program))))
  if (builder === undefined) return null
  const file = join(root, 'infra', 'deploy', 'Dockerfile')
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const tags = [`--tag=mountglass:${version}`, '--tag=mountglass:latest']
  return [builder.program, ...builder.command, `--file=${file}`, ...tags, ...args, context]
}

async function main() {
  const call = imageCall(join(root, 'packed'), process.argv.slice(2))
  if (call === null) {
    process.stderr.write(
      `mountglass: an image is built by ${BUILDERS.map(({ program }) => program).join(' or ')}: install one of them\n`,
    )
    return 1
  }
  const packed = await runInForeground(process.execPath, [join(root, 'scripts', 'pack.mjs')])
  if (packed !== 0) return packed
  const [program, ...args] = call
  return await runInForeground(program, args)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main()
