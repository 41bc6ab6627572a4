import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { adaptLicense } from '#test/eval/adapted.ts'
import { CORPUS, corpusRepositories, unpackCorpus } from '#test/support/corpus.ts'
import { startService } from '#test/support/service.ts'
import { generate, generateLargest } from './repositories.ts'
import type { AskedOnce } from './search-ask.ts'
import type { Built, Changed } from './search-build.ts'
import { printSearchFigures, type SearchFigures } from './search-figures.ts'
import type { Collected } from './search-items.ts'
import type { Jobs } from './search-job.ts'

/** A small and a larger real repository, and one without spaces between its words. */
const REAL = ['obra__superpowers', 'wshobson__agents', 'vuejs-translations__docs-ja']

interface Subject {
  owner: string
  name: string
  script: SearchFigures['script']
}

/** Prints what search costs, beside its targets, over repositories of its own in the folder. */
export async function measureSearch(folder: string): Promise<void> {
  const root = join(folder, 'repositories')
  const store = join(folder, 'store')
  const subjects = await makeSubjects(root)
  const service = await startService({
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_STORE: `disk:${store}`,
    MOUNTGLASS_LOG: 'warn',
  })
  const indexSeconds = new Map<Subject, number>()
  try {
    for (const subject of subjects) {
      const startedAt = performance.now()
      const { status } = await service.get('find', `/local/${subject.owner}/${subject.name}`, { query: 'first' })
      if (status === 'ready') indexSeconds.set(subject, (performance.now() - startedAt) / 1000)
    }
  } finally {
    await service.stop()
  }
  const figures: SearchFigures[] = []
  for (const subject of subjects) figures.push(await measureSubject(folder, subject, indexSeconds.get(subject) ?? null))
  printSearchFigures(figures)
}

async function makeSubjects(root: string): Promise<Subject[]> {
  const subjects: Subject[] = []
  if (CORPUS === null) process.stdout.write('left out: real repositories, since there is no folder ../shared/corpus\n')
  else {
    for (const repository of corpusRepositories(CORPUS).filter(({ directory }) => REAL.includes(directory))) {
      await unpackCorpus(CORPUS, repository, root, folder => {
        adaptLicense(repository.directory, folder)
      })
      const { owner, name, directory } = repository
      subjects.push({ owner, name, script: directory.endsWith('-ja') ? 'CJK' : 'Latin' })
    }
  }
  for (const { owner, name } of [generate(root, 'files-15000', 15_000), generateLargest(root)]) {
    subjects.push({ owner, name, script: 'Latin' })
  }
  return subjects
}

async function measureSubject(folder: string, subject: Subject, indexSeconds: number | null): Promise<SearchFigures> {
  const { owner, name, script } = subject
  const files = ['repositories', 'store', 'items.jsonl', 'queries.json'].map(file => join(folder, file))
  const [root = '', store = '', itemsFile = '', queriesFile = ''] = files
  const measure = async <Measured>(mode: string): Promise<Measured> => {
    const program = join(import.meta.dirname, 'search-once.ts')
    const args = ['--expose-gc', program, mode, root, owner, name, store, itemsFile, queriesFile]
    return JSON.parse((await run(process.execPath, args, { maxBuffer: 2 ** 28 })).stdout) as Measured
  }
  if (indexSeconds === null) await measure('index')
  const collected = await measure<Collected>('collect')
  await writeFile(queriesFile, JSON.stringify(collected.queries))
  const built = await measure<Built>('build')
  const changed = await measure<Changed>('change')
  const jobs = await measure<Jobs>('job')
  const asked = await measure<AskedOnce>('ask')
  await rm(itemsFile)
  return { repository: name, script, indexSeconds, collected, built, changed, jobs, asked }
}

const run = promisify(execFile)
