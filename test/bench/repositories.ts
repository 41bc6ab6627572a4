import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { CommitSha } from '#core/commit-sha.ts'
import { CORPUS, corpusRepositories, unpackCorpus } from '#test/support/corpus.ts'

export interface BenchRepository {
  owner: string
  name: string
  gitDir: string
}

/**
 * What is measured: generated repositories of 1,000 and 15,000 files, and the corpus where there is one.
 *
 * @param names of those that are wanted. Default: all
 */
export async function makeRepositories(root: string, names?: readonly string[]): Promise<BenchRepository[]> {
  const isWanted = (name: string) => names?.includes(name) ?? true
  const made: BenchRepository[] = []
  for (const files of [1_000, 15_000]) if (isWanted(`files-${files}`)) made.push(generate(root, `files-${files}`, files))
  if (CORPUS === null) process.stdout.write('left out: real repositories, since there is no folder ../shared/corpus\n')
  else {
    for (const repository of corpusRepositories(CORPUS).filter(({ name }) => isWanted(name))) {
      await unpackCorpus(CORPUS, repository, root)
      made.push({ owner: repository.owner, name: repository.name, gitDir: join(root, repository.owner, repository.name, '.git') })
    }
  }
  return made
}

/** Documents and skills of about 4.5 kB each, with words as rare and as common as in real text. */
export function generate(root: string, name: string, files: number): BenchRepository {
  const random = createRandom(files)
  return importFiles(root, name, function* () {
    yield ['package.json', '{"license":"MIT"}']
    yield ['SKILLSET.md', '---\nname: Generated\n---\nRules for all.\n']
    for (let index = 0; index < files - 2; index++) {
      const topic = `topic-${index % 97}`
      const text = words(random, 650)
      if (index % 20 === 0)
        yield [
          `skills/${topic}/skill-${index}/SKILL.md`,
          `---\nname: skill-${index}\ndescription: ${words(random, 20).replaceAll('.\n', ' ')}\n---\n${text}`,
        ]
      else if (index % 20 < 4)
        yield [`skills/${topic}/skill-${index - (index % 20)}/references/note-${index}.md`, `# Note ${index}\n\n${text}`]
      else yield [`docs/${topic}/page-${index}.md`, `# Page ${index}\n\n${text}\n\nSee [another](page-${index - 97}.md).\n`]
    }
  })
}

/**
 * As many items as search has in one repository, near the limits of one: 18,000 documents, and 4,000 skills with 7 pages each; 2.5 kB each.
 * As in the reference of a large library, the pages of a folder share a subject and all pages a frame, and each tells of a name of its own.
 */
export function generateLargest(root: string): BenchRepository {
  const random = createRandom(50_000)
  const pick = (topic: number) => () => {
    return random() < 0.25 ? topicWordOf(topic, Math.floor(400 ** random())) : wordOf(Math.floor(200_000 ** random()))
  }
  const page = (topic: number, index: number) => {
    const title = Array.from({ length: 4 }, (_, place) =>
      place < 2 ? topicWordOf(topic, Math.floor(400 ** random())) : wordOf(SYLLABLES.length + Math.floor(8_000 ** random())),
    ).join(' ')
    const parts = [60, 120, 100].map(count => words(random, count, pick(topic)))
    return `# ${title}\n\n${parts[0]}\n${FRAME[0]}\n${parts[1]}\n${FRAME[1]}\n${parts[2]}\nIt is set by \`${wordOf(index)}_mode\`.\n`
  }
  return importFiles(root, 'items-50000', function* () {
    yield ['package.json', '{"license":"MIT"}']
    for (let index = 0; index < 18_000; index++) {
      const topic = index % TOPICS
      yield [`docs/topic-${topic}/page-${index}.md`, page(topic, index)]
    }
    for (let skill = 0; skill < 4_000; skill++) {
      const topic = skill % TOPICS
      const folder = `skills/topic-${topic}/skill-${skill}`
      const description = words(random, 20, pick(topic)).replaceAll('.\n', ' ')
      yield [`${folder}/SKILL.md`, `---\nname: skill-${skill}\ndescription: ${description}\n---\n${page(topic, skill)}`]
      for (let note = 0; note < 7; note++) {
        yield [`${folder}/references/note-${note}.md`, page(topic, 18_000 + skill * 7 + note)]
      }
    }
  })
}

const TOPICS = 97

const FRAME = [
  '\n## Syntax\n\n```ts\nfunction call(options: Options): Promise<Result>\n```\n\n## Parameters\n',
  '\n## Return value\n\nA promise of the result, which fails when the options are not valid.\n\n## Remarks\n',
]

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

/** Where git keeps a repository below a folder, with its files beside it or without. */
export function gitFolderOf(root: string, owner: string, name: string): string {
  const bare = join(root, owner, `${name}.git`)
  return existsSync(bare) ? bare : join(root, owner, name, '.git')
}

/** Commits other texts of some files on a branch of its own, and says what the commit is. */
export function commitFiles(gitDir: string, paths: readonly string[], change: (text: string) => string): CommitSha {
  const git = (args: readonly string[], input?: string) =>
    execFileSync('git', [`--git-dir=${gitDir}`, ...args], { encoding: 'utf8', maxBuffer: 2 ** 30, ...(input ? { input } : {}) })
  const chunks = [`commit ${CHANGED}\ncommitter Bench <bench@example.org> 1767225601 +0000\ndata 0\nfrom refs/heads/main^0\n`]
  for (const path of paths) {
    const text = change(git(['show', `main:${path}`]))
    chunks.push(`M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`)
  }
  git(['fast-import', '--quiet', '--force'], chunks.join(''))
  return git(['rev-parse', CHANGED]).trim() as CommitSha
}

const CHANGED = 'refs/heads/changed'

/** The text without a twentieth of it, and with a sentence of its own. */
export function otherWords(text: string): string {
  const middle = text.length >> 1
  return `${text.slice(0, middle)} changed ${text.slice(middle + Math.floor(text.length / 20))}\n\nThis sentence is new.\n`
}

/** The share of the words of a text that were there before, which makes two fifths of them different ones, as in real text. */
const REPEATED = 0.4

/** @param pick the next word that is not a repeated one */
function words(random: () => number, count: number, pick = () => wordOf(Math.floor(20_000 ** random()))): string {
  const said: string[] = []
  const text: string[] = []
  for (let index = 0; index < count; index++) {
    const isNew = said.length === 0 || random() > REPEATED
    const word = isNew ? pick() : (said[Math.floor(random() * said.length)] ?? '')
    said.push(word)
    text.push(word, index % 12 === 11 ? '.\n' : ' ')
  }
  return text.join('')
}

const SYLLABLES = Array.from('bdfghklmnprstvwz').flatMap(first => ['an', 'er', 'ol', 'ist'].map(rest => first + rest))

// The rank of a word gives its syllables, so that common words are short and every word is the same everywhere.
function wordOf(rank: number): string {
  let word = ''
  for (let left = rank + 1; left > 0; left = Math.floor(left / SYLLABLES.length)) word += SYLLABLES[left % SYLLABLES.length]
  return word
}

/** A word that is at home in one folder, beyond the commonest ones. */
function topicWordOf(topic: number, rank: number): string {
  return wordOf(20_000 + 400 * topic + rank)
}

function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
