import { once } from 'node:events'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { CheckReport } from '#indexer/check/schema.ts'
import { until } from '#test/support/until.ts'
import { git, root, run, SKILL, start, useCheckScene, write } from './check-scene.ts'

useCheckScene()

test('watching checks again when files are changed, added or removed, in new folders too, until interrupted', async () => {
  await write({ 'a/SKILL.md': SKILL('a') })
  git('init', '-q')
  const watching = watch([root, '--watch', '--json'])
  expect(await watching.until(() => true)).toEqual(['a/SKILL.md'])
  await write({ 'b/c/d/SKILL.md': SKILL('d') })
  expect(await watching.until(paths => paths.length === 2)).toEqual(['a/SKILL.md', 'b/c/d/SKILL.md'])
  await mkdir(join(root, 'e/f'), { recursive: true })
  await write({ 'e/f/SKILL.md': SKILL('f') })
  expect(await watching.until(paths => paths.length === 3)).toContain('e/f/SKILL.md')
  await rm(join(root, 'b'), { recursive: true })
  expect(await watching.until(paths => paths.length === 2)).toEqual(['a/SKILL.md', 'e/f/SKILL.md'])
  await write({ 'b/SKILL.md': SKILL('b') })
  expect(await watching.until(paths => paths.length === 3)).toContain('b/SKILL.md')
  await rename(join(root, 'e'), join(root, 'g'))
  expect(await watching.until(paths => paths.includes('g/f/SKILL.md'))).toHaveLength(3)
  expect(await watching.interrupt()).toEqual({ code: 0, stderr: '' })
})

test('watching survives the removal and return of the folder', async () => {
  await write({ 'a/SKILL.md': SKILL('a') })
  const watching = watch([root, '--watch', '--json'])
  await watching.until(() => true)
  await rm(root, { recursive: true })
  await watching.said('does not exist')
  await write({ 'b/SKILL.md': SKILL('b') })
  expect(await watching.until(paths => paths.length === 1)).toEqual(['b/SKILL.md'])
  expect((await watching.interrupt()).code).toBe(0)
})

test('watching ends when its output is closed', async () => {
  await write({ 'a/SKILL.md': SKILL('a') })
  const watching = watch([root, '--watch', '--json'])
  await watching.until(() => true)
  const ended = watching.closeOutput()
  await write({ 'b/SKILL.md': SKILL('b') })
  expect(await ended).toEqual({ code: 0, stderr: '' })
})

test('watching a missing folder is a usage error', async () => {
  expect(await run([join(root, 'nothing'), '--watch'])).toMatchObject({ code: 2, stdout: '' })
})

test('on a pipe watching writes no control character', async () => {
  await write({ 'a/SKILL.md': SKILL('a') })
  const watching = watch([root, '--watch'])
  await watching.said('1 skill, ~')
  await write({ 'b/SKILL.md': SKILL('b') })
  await watching.said('2 skills, ~')
  expect(watching.output()).not.toMatch(/(?!\n)\p{Cc}/u)
  await watching.interrupt()
})

function watch(args: readonly string[]) {
  const child = start(args)
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', chunk => (output.stdout += chunk))
  child.stderr?.on('data', chunk => (output.stderr += chunk))
  const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })[Symbol.asyncIterator]()
  const end = async () => {
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, stderr: output.stderr }
  }
  return {
    /** Skill paths of the first report from here on for which the test holds. */
    async until(test: (paths: string[]) => boolean): Promise<string[]> {
      for (;;) {
        const { value, done } = await lines.next()
        if (done) throw new Error(`it ended: ${output.stderr}`)
        const report = CheckReport.parse(JSON.parse(value))
        const paths = report.status === 'checked' ? report.skills.map(skill => skill.path) : []
        if (test(paths)) return paths
      }
    },
    async said(text: string): Promise<void> {
      await until(() => (output.stdout + output.stderr).includes(text))
    },
    output: () => output.stdout,
    interrupt() {
      const ended = end()
      child.kill('SIGINT')
      return ended
    },
    closeOutput() {
      const ended = end()
      child.stdout?.destroy()
      return ended
    },
  }
}
