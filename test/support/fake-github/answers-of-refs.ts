import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Repository } from './world.ts'

/** A longer answer is not kept. */
const KEPT_BYTES = 256 * 1024

interface Kept {
  /** Hash of the files that decided the answers. */
  state: string
  /** By question. */
  answers: Map<string, Promise<Buffer>>
}

/** By folder of git: a world may show one repository under many names. */
const keptOf = new Map<string, Kept>()

/**
 * The answer of git to a question that only the refs decide. It is kept until HEAD, a ref or the configuration changes: a page of an account
 * asks this of every repository, and a process of git takes longer than everything else that the stand-in does.
 *
 * @param ask resolves to the answer, and whether git ended well; only then it is kept
 */
export async function answerOfRefs(
  repository: Repository,
  question: string,
  ask: () => Promise<{ answer: Buffer; isWell: boolean }>,
): Promise<Buffer> {
  const state = await stateOf(repository.gitDir)
  const known = keptOf.get(repository.gitDir)
  const kept = known?.state === state ? known : { state, answers: new Map<string, Promise<Buffer>>() }
  if (kept !== known) keptOf.set(repository.gitDir, kept)
  const before = kept.answers.get(question)
  if (before) return before
  const asking = ask().then(async ({ answer, isWell }) => {
    // What git read may be newer than the state, when a ref moved meanwhile.
    const mayKeep = isWell && answer.length <= KEPT_BYTES && (await stateOf(repository.gitDir)) === state
    if (!mayKeep) kept.answers.delete(question)
    return answer
  })
  kept.answers.set(question, asking)
  asking.catch(() => kept.answers.delete(question))
  return asking
}

/** The bytes, not the times, of the files: two changes may share a time. */
async function stateOf(gitDir: string): Promise<string> {
  const hash = createHash('sha1')
  const files = ['HEAD', 'config', 'packed-refs', ...(await filesBelow(gitDir, 'refs'))]
  const contents = await Promise.all(files.map(file => readFile(join(gitDir, file)).catch(() => null)))
  for (const [index, content] of contents.entries())
    hash.update(`${files[index]}\0${content?.length ?? -1}\0`).update(content ?? '')
  return hash.digest('base64')
}

async function filesBelow(gitDir: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(gitDir, folder), { withFileTypes: true }).catch(() => [])
  const nested = await Promise.all(
    entries.map(entry => {
      const path = `${folder}/${entry.name}`
      return entry.isDirectory() ? filesBelow(gitDir, path) : [path]
    }),
  )
  return nested.flat().sort()
}
