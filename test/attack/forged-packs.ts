import { MIT } from '#test/api/support/texts.ts'
import { FORGED_KINDS, forgeObject } from '#test/support/forged-packs.ts'
import { endpointUrl, testApp } from '#test/support/test-app.ts'

export interface ForgedReport {
  /** Answers by status and error code. */
  answers: Record<string, number>
  /** URLs of answers that showed a forged byte. */
  leaks: string[]
}

const FILE = 'folder/file.md'
/** What `forgeObject` puts into the place of an object. */
const FORGED = 'forged'

/**
 * Asks for everything of repositories whose packs list other objects under the ids of their commit, trees and file. No answer may show
 * another object than the one that was asked for.
 */
export async function askForForged(): Promise<ForgedReport> {
  const app = await testApp({})
  const report: ForgedReport = { answers: {}, leaks: [] }
  try {
    for (const kind of FORGED_KINDS) {
      const repository = await app.repositories.create('acme', kind)
      const commit = await repository.commit({ LICENSE: MIT, [FILE]: 'told', 'other.md': 'other' })
      await forgeObject(repository, commit, kind)
      const address = `/local/acme/${kind}@${commit}`
      await app.get(endpointUrl('mounts', address))
      await app.index()
      const urls = [
        endpointUrl('mounts', address),
        endpointUrl('browse', address, { path: 'folder' }),
        endpointUrl('find', address, { query: FORGED }),
        endpointUrl('files', address, { path: FILE }),
        `/git/local/acme/${kind}/raw/${commit}/${FILE}`,
      ]
      for (const url of urls) await ask(url)
    }
    return report
  } finally {
    await app.close()
  }

  async function ask(url: string): Promise<void> {
    const { status, body } = await app.get(url)
    const code = /"(?:code|errorCode|status)":"([\w.]+)"/.exec(body)?.[1]
    const name = code === undefined ? `${status}` : `${status} ${code}`
    report.answers[name] = (report.answers[name] ?? 0) + 1
    if (body.replaceAll(`"query":"${FORGED}"`, '').includes(FORGED)) report.leaks.push(url)
  }
}
