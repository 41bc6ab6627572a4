import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { CORPUS, corpusRepositories, unpackCorpus } from '#test/support/corpus.ts'

export interface BenchRepository {
  owner: string
  name: string
  gitDir: string
}

/** What is measured: generated repositories of 1,000 and 15,000 files, and the corpus where there is one. */
export async function makeRepositories(root: string): Promise<BenchRepository[]> {
  const made: BenchRepository[] = []
  for (const files of [1_000, 15_000]) made.push(generate(root, `files-${files}`, files))
  if (CORPUS === null) process.stdout.write('left out: real repositories, since there is no folder ../shared/corpus\n')
  else {
    for (const repository of corpusRepositories(CORPUS)) {
      await unpackCorpus(CORPUS, repository, root)
      made.push({ owner: repository.owner, name: repository.name, gitDir: join(root, repository.owner, repository.name, '.git') })
    }
  }
  return made
}

/** Documents and skills of about 4.7 kB each, the mean of real documentation, with words as rare and as common as in real text. */
function generate(root: string, name: string, files: number): BenchRepository {
  const gitDir = join(root, 'generated', `${name}.git`)
  mkdirSync(gitDir, { recursive: true })
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', gitDir])
  const random = createRandom(files)
  const chunks = ['commit refs/heads/main\ncommitter Bench <bench@example.org> 1767225600 +0000\ndata 0\n']
  const add = (path: string, text: string) => chunks.push(`M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`)
  add('package.json', '{"license":"MIT"}')
  add('SKILLSET.md', '---\nname: Generated\n---\nRules for all.\n')
  for (let index = 0; index < files - 2; index++) {
    const topic = `topic-${index % 97}`
    const text = words(random, 700)
    if (index % 20 === 0)
      add(`skills/${topic}/skill-${index}/SKILL.md`, `---\nname: skill-${index}\ndescription: ${words(random, 20)}\n---\n${text}`)
    else if (index % 20 < 4)
      add(`skills/${topic}/skill-${index - (index % 20)}/references/note-${index}.md`, `# Note ${index}\n\n${text}`)
    else add(`docs/${topic}/page-${index}.md`, `# Page ${index}\n\n${text}\n\nSee [another](page-${index - 97}.md).\n`)
  }
  execFileSync('git', [`--git-dir=${gitDir}`, 'fast-import', '--quiet'], { input: chunks.join(''), maxBuffer: 2 ** 30 })
  return { owner: 'generated', name, gitDir }
}

function words(random: () => number, count: number): string {
  const text: string[] = []
  for (let index = 0; index < count; index++) text.push(wordOf(Math.floor(20_000 ** random())), index % 12 === 11 ? '.\n' : ' ')
  return text.join('')
}

// The rank of a word gives its letters, so that common words are short and every word is the same everywhere.
function wordOf(rank: number): string {
  let word = ''
  for (let left = rank + 1; left > 0; left = Math.floor(left / 21)) word += 'etaoinshrdlcumwfgypbv'[left % 21]
  return word.padEnd(3, 'e')
}

function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
