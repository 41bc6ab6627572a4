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

/** Documents and skills of about 3 kB each, with words as rare and as common as in real text. */
export function generate(root: string, name: string, files: number): BenchRepository {
  const random = createRandom(files)
  return importFiles(root, name, function* () {
    yield ['package.json', '{"license":"MIT"}']
    yield ['SKILLSET.md', '---\nname: Generated\n---\nRules for all.\n']
    for (let index = 0; index < files - 2; index++) {
      const topic = `topic-${index % 97}`
      const text = words(random, 700)
      if (index % 20 === 0)
        yield [
          `skills/${topic}/skill-${index}/SKILL.md`,
          `---\nname: skill-${index}\ndescription: ${words(random, 20)}\n---\n${text}`,
        ]
      else if (index % 20 < 4)
        yield [`skills/${topic}/skill-${index - (index % 20)}/references/note-${index}.md`, `# Note ${index}\n\n${text}`]
      else yield [`docs/${topic}/page-${index}.md`, `# Page ${index}\n\n${text}\n\nSee [another](page-${index - 97}.md).\n`]
    }
  })
}

/**
 * As many items as search has in one repository, near the limits of one: 18,000 documents, and 4,000 skills with 7 pages each; 2.2 kB each.
 * Titles are of longer words, as those that are misspelled are, and every text has a name in it that is its own.
 */
export function generateLargest(root: string): BenchRepository {
  const random = createRandom(50_000)
  const text = (index: number) => `${words(random, 500, 200_000)}\n\nUse \`set_${wordOf(index)}_mode\` for it.\n`
  const title = () => Array.from({ length: 4 }, () => longWordOf(Math.floor(8_000 ** random()))).join(' ')
  return importFiles(root, 'items-50000', function* () {
    yield ['package.json', '{"license":"MIT"}']
    for (let index = 0; index < 18_000; index++) {
      yield [`docs/topic-${index % 97}/page-${index}.md`, `# ${title()}\n\n${text(index)}`]
    }
    for (let skill = 0; skill < 4_000; skill++) {
      const folder = `skills/topic-${skill % 97}/skill-${skill}`
      const description = `${words(random, 20, 200_000).replaceAll('.\n', ' ')}`
      yield [`${folder}/SKILL.md`, `---\nname: skill-${skill}\ndescription: ${description}\n---\n# ${title()}\n\n${text(skill)}`]
      for (let page = 0; page < 7; page++) {
        yield [`${folder}/references/note-${page}.md`, `# ${title()}\n\n${text(18_000 + skill * 7 + page)}`]
      }
    }
  })
}

/** A bare repository of one commit, made without files on the disk. */
function importFiles(root: string, name: string, files: () => Iterable<[path: string, text: string]>): BenchRepository {
  const gitDir = join(root, 'generated', `${name}.git`)
  mkdirSync(gitDir, { recursive: true })
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', gitDir])
  const chunks = ['commit refs/heads/main\ncommitter Bench <bench@example.org> 1767225600 +0000\ndata 0\n']
  for (const [path, text] of files()) chunks.push(`M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`)
  execFileSync('git', [`--git-dir=${gitDir}`, 'fast-import', '--quiet'], { input: chunks.join(''), maxBuffer: 2 ** 30 })
  return { owner: 'generated', name, gitDir }
}

function words(random: () => number, count: number, vocabulary = 20_000): string {
  const text: string[] = []
  for (let index = 0; index < count; index++)
    text.push(wordOf(Math.floor(vocabulary ** random())), index % 12 === 11 ? '.\n' : ' ')
  return text.join('')
}

// The rank of a word gives its letters, so that common words are short and every word is the same everywhere.
function wordOf(rank: number): string {
  let word = ''
  for (let left = rank + 1; left > 0; left = Math.floor(left / 21)) word += 'etaoinshrdlcumwfgypbv'[left % 21]
  return word.padEnd(3, 'e')
}

function longWordOf(rank: number): string {
  return wordOf(rank) + wordOf((rank * 7_919) % 9_261)
}

function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
