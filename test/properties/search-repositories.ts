import fc from 'fast-check'
import { ancestorsOf, type RepoPath } from '#core/repo-path.ts'
import { MIT } from '../api/support/texts.ts'

/** What a generated repository is made of. `planted` writes its files. */
export interface SearchPlan {
  areas: readonly Area[]
  rootPages: readonly Page[]
  excludesPages: boolean
}

interface Area {
  folder: string
  kind: (typeof KINDS)[number]
  pages: readonly Page[]
  /** A skill lies in a folder of its own below the area, not in the area itself. */
  isDeep: boolean
  /** A skill holds another one; documents have a folder that their manifest excludes. */
  hasInner: boolean
}

interface Page {
  name: string
  /** Of its front matter. */
  fields: string
  title: string
  lines: readonly string[]
}

/** Files with words that stand in one place each. */
export interface PlantedRepository {
  files: Record<string, string>
  /** Every folder that is not withheld. */
  folders: RepoPath[]
  open: readonly OpenWord[]
  /** Words that nothing finds and no answer shows. */
  hidden: readonly string[]
  /** Files that no answer names. */
  unnamed: ReadonlySet<string>
  /** Folders of skills; the files below belong to the nearest. */
  skillFolders: readonly string[]
}

interface OpenWord {
  word: string
  /** The result that it leads to, and the file that has it. */
  unit: string
  file: string
  /** It stands in text that passages are taken from. */
  isInBody: boolean
}

const KINDS = ['documents', 'restricted', 'skill', 'described', 'internal', 'excluded', 'closed'] as const

const LINES = [
  'Plant tulips in the garden, then bake bread.',
  'Set `max_tokens` before `getUserProfile()` is called.',
  'Tulips and roses: which ones to plant in a small garden?',
  'The flour is milled in C++ and baked in C#.',
  '庭に水をやる。ガーデンにチューリップを植える。',
  '在花园里种郁金香，然后烤面包。',
  '정원에 튤립을 심는다.',
  'Сад и розы; в саду растут тюльпаны.',
  'Gießt die Gärten täglich 🌱 – Rosen und Brot.',
  'ปลูกดอกไม้ในสวน แล้วอบขนมปัง',
  '- rake\n- spade\n- a `--dry-run` of the garden',
  '| tool | use |\n|---|---|\n| oven | bread |',
  '```sh\nbake --bread garden.flour\n```',
]

/** Queries about what the lines say, misspelled ones and those of stop words among them. */
export const queries: fc.Arbitrary<string> = fc.oneof(
  fc
    .array(
      fc.constantFrom(
        ...['garden', 'Gardens', 'tulip', 'roses', 'bread', 'max_tokens', 'getUserProfile', 'user profile', 'the', 'C++', 'C#'],
        ...[
          '庭',
          'ガーデン',
          '花园',
          '튤립',
          'сад',
          'Gärten',
          'ดอกไม้',
          'guide',
          'notes',
          'references',
          'SKILL',
          'dry-run',
          '--dry-run',
        ],
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map(words => words.join(' ')),
  fc.constantFrom(
    'gardne',
    'tulps breed',
    'tul',
    'how do I plant roses',
    'what is the',
    'max token',
    'ロ',
    'rake OR spade',
    '"plant tulips"',
  ),
)

const page: fc.Arbitrary<Page> = fc.record({
  name: fc.constantFrom('a', 'b', 'notes', 'garden', 'über', '漢字', 'a b', '%41', 'tulip-guide'),
  fields: fc.constantFrom('', '', 'title: Rosen', 'title: Bread', 'description: Of tulips.', 'keywords: [garden, bread]'),
  title: fc.constantFrom('Garden', 'Tulips and bread', 'getUserProfile', '庭の花', 'Сад', 'A', 'The notes of the garden'),
  lines: fc.array(fc.constantFrom(...LINES), { minLength: 0, maxLength: 6 }),
})
const pages = fc.uniqueArray(page, { maxLength: 3, selector: ({ name }) => name })

const area = (folder: string): fc.Arbitrary<Area> =>
  fc.record({
    folder: fc.constant(folder),
    kind: fc.constantFrom(...KINDS, 'skill', 'documents'),
    pages,
    isDeep: fc.boolean(),
    hasInner: fc.boolean(),
  })

const FOLDERS = ['guide', 'guide-b', 'сад', '庭園', 'a b', '%41', 'skills']

export const searchPlan: fc.Arbitrary<SearchPlan> = fc.record({
  areas: fc.subarray(FOLDERS, { minLength: 2 }).chain(folders => fc.tuple(...folders.map(area))),
  rootPages: pages,
  excludesPages: fc.boolean(),
})

/** Another state of the same repository: areas become something else, or go. */
export function changedPlan(plan: SearchPlan): fc.Arbitrary<SearchPlan> {
  const areas = plan.areas.map(before =>
    fc.oneof(
      fc.constant(before),
      // The same texts with other front matter, or as something else.
      fc.tuple(area(before.folder), fc.boolean()).map(([after, isSameKind]) => ({
        ...before,
        kind: isSameKind ? before.kind : after.kind,
        pages: before.pages.map((one, at) => ({ ...one, fields: after.pages[at]?.fields ?? one.fields })),
      })),
      area(before.folder),
      fc.constant(null),
    ),
  )
  return fc.record({
    areas: fc.tuple(...areas).map(all => all.filter(one => one !== null)),
    rootPages: fc.oneof(fc.constant(plan.rootPages), pages),
    excludesPages: fc.boolean(),
  })
}

/** Writes the files of a plan. Plans with another `secret` differ in nothing but the hidden words. */
export function planted({ areas, rootPages, excludesPages }: SearchPlan, secret = 0): PlantedRepository {
  const files: Record<string, string> = { LICENSE: MIT }
  const open: OpenWord[] = []
  const hidden: string[] = []
  const unnamed = new Set<string>(['LICENSE'])
  const skillFolders: string[] = []
  const withheld: string[] = []
  // Every area has words of its own, so that a change of one leaves the files of the others as they are.
  let block = 0
  let shown = 0
  let concealed = 0
  const enter = (number: number) => {
    block = number * AREA_WORDS
    shown = 0
    concealed = 0
  }
  const show = (unit: string, file: string, isInBody: boolean) => {
    const word = plantedWord(block + shown++)
    open.push({ word, unit, file, isInBody })
    return word
  }
  const hide = () => {
    const word = plantedWord(FIRST_HIDDEN + secret * HIDDEN_WORDS + block + concealed++)
    hidden.push(word)
    return word
  }
  const add = (path: string, text: string, isNamed: boolean) => {
    files[path] = text
    if (!isNamed) unnamed.add(path)
  }

  /** A page that is found as part of `unit`. */
  const addPage = (folder: string, { name, fields, title, lines }: Page, unit?: string) => {
    const path = `${folder}${name}.md`
    const place = (isInBody: boolean) => show(unit ?? path, path, isInBody)
    const matter = fields === '' ? '' : `---\n${fields}\n---\n`
    add(path, matter + markdown(`${title} ${place(false)}`, lines, place(true)), true)
  }
  const addHiddenPage = (path: string, { title, lines }: Page) => add(path, markdown(`${title} ${hide()}`, lines, hide()), false)
  const addHiddenSkill = (folder: string, own: readonly Page[], fields = '') => {
    add(`${folder}SKILL.md`, skill(hide(), `Garden ${hide()}.`, fields, hide()), false)
    for (const one of own) addHiddenPage(`${folder}${one.name}.md`, one)
  }
  const addSkill = (folder: string, own: readonly Page[], inner: readonly Page[] | null) => {
    const path = `${folder}SKILL.md`
    skillFolders.push(folder.slice(0, -1))
    const translations = `translations:\n  de: { name: ${hide()}, description: ${hide()} }\n`
    add(path, skill(show(path, path, false), `Plants ${show(path, path, false)}.`, translations, show(path, path, false)), true)
    for (const one of own) addPage(`${folder}references/`, one, path)
    add(`${folder}list.txt`, `Bread,\n\n${isolated(show(path, `${folder}list.txt`, true))}\n\nand roses.\n`, true)
    add(`${folder}bake.py`, `# ${hide()}\ndef bake_bread(): ...\n`, true)
    if (inner) addSkill(`${folder}inner/`, inner, null)
  }

  for (const { folder, kind, pages, isDeep, hasInner } of areas) {
    enter(FOLDERS.indexOf(folder))
    const top = `${folder}/`
    const at = isDeep ? `${top}deep/` : top
    if (kind === 'documents') {
      for (const one of pages) addPage(at, one)
      add(`${at}README.md`, markdown(`Tulips ${hide()}`, LINES, hide()), false)
      add(`${at}CHANGELOG.md`, `# Bread ${hide()}\n`, false)
      add(`${at}linked.txt`, `Tulips ${hide()}\n`, false)
      add(`${at}linking.md`, '# Linking\n\nSee [the tulips](linked.txt).\n', true)
      const exclude = hasInner ? 'exclude: [drafts/]\n' : ''
      add(`${top}SKILLSET.md`, `---\nname: Bread ${hide()}\n${exclude}---\nThe garden rule of ${hide()}.\n`, false)
      if (hasInner) {
        withheld.push(`${at}drafts`)
        for (const one of pages) addHiddenPage(`${at}drafts/${one.name}.md`, one)
        addHiddenSkill(`${at}drafts/skill/`, pages)
      }
    }
    if (kind === 'restricted') {
      add(`${top}LICENSE`, 'All rights reserved.\n', false)
      for (const { name, title, lines } of pages) {
        const path = `${at}${name}.md`
        const named = () => isolated(show(path, path, false))
        add(
          path,
          `---\ndescription: Bread of ${named()}\n---\n# ${title} ${named()}\n\nBread of ${isolated(hide())}\n\n${lines.join('\n\n')}\n\n## ${hide()}\n\n${isolated(hide())}\n`,
          true,
        )
      }
    }
    if (kind === 'skill') addSkill(at, pages, hasInner ? pages : null)
    if (kind === 'described') {
      const path = `${at}SKILL.md`
      skillFolders.push(at.slice(0, -1))
      const text = `Tulips in the garden.\n\n## ${hide()}\n\n${isolated(hide())}`
      add(path, skill(show(path, path, false), `Bakes ${show(path, path, false)}.`, 'license: Proprietary\n', text), true)
      for (const one of pages) addHiddenPage(`${at}references/${one.name}.md`, one)
      if (hasInner) addHiddenPage(`${at}${hide()}.md`, { name: '', fields: '', title: 'Bread', lines: LINES })
    }
    if (kind === 'internal') {
      skillFolders.push(at.slice(0, -1))
      addHiddenSkill(at, pages, 'metadata: { internal: true }\n')
    }
    if (kind === 'excluded') {
      withheld.push(folder)
      for (const one of pages) addHiddenPage(`${at}${one.name}.md`, one)
      if (hasInner) addHiddenSkill(`${at}skill/`, pages)
    }
    if (kind === 'closed') {
      if (isDeep) withheld.push(`${top}deep`)
      add(`${top}SKILLSET.md`, `---\nname: ${hide()}\nbroken`, false)
      for (const one of pages) addHiddenPage(`${at}${one.name}.md`, one)
      if (hasInner) {
        withheld.push(`${at}skill`)
        addHiddenSkill(`${at}skill/`, pages)
      }
    }
  }
  enter(FOLDERS.length)
  for (const one of rootPages) {
    if (excludesPages) addHiddenPage(`hidden-${one.name}.md`, one)
    else addPage('', one)
  }
  const excluded = ['/hidden-*', ...areas.filter(({ kind }) => kind === 'excluded').map(({ folder }) => `/${folder}/`)]
  add('SKILLSET.md', `---\nname: Garden\nexclude: ${JSON.stringify(excluded)}\n---\nRoot rule about bread: ${hide()}.\n`, false)

  const isWithheld = (folder: string) => withheld.some(at => folder === at || folder.startsWith(`${at}/`))
  const folders = new Set(Object.keys(files).flatMap(path => ancestorsOf(path as RepoPath)))
  return { files, folders: [...folders].filter(folder => !isWithheld(folder)), open, hidden, unnamed, skillFolders }
}

function markdown(title: string, lines: readonly string[], word: string): string {
  const middle = Math.ceil(lines.length / 2)
  return `# ${[title, ...lines.slice(0, middle), isolated(word), ...lines.slice(middle)].join('\n\n')}\n`
}

function skill(name: string, description: string, fields: string, word: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n${fields}---\nWater the garden.\n\n${isolated(word)}\n\nThen rest.\n`
}

/** With nothing beside it that it could grow together with. */
function isolated(word: string): string {
  return `— ${word} —`
}

const AREA_WORDS = 100
const FIRST_HIDDEN = 1_000
const HIDDEN_WORDS = 1_000

/** A word of its own for every number below 4,096: none is another one misspelled, nor its beginning. */
function plantedWord(number: number): string {
  const digits = [number >> 8, (number >> 4) & 15, number & 15]
  const spelled = (letters: string, vowel: string) =>
    [...digits, ...digits, ...digits].map(digit => letters[digit] + vowel).join('')
  switch (number % 4) {
    case 0:
      return String.fromCodePoint(0x5000 + number, 0x6000 + number)
    case 1:
      return spelled('bcdfghklmnprtvwz', 'o')
    case 2:
      return spelled('бвгджзклмнпрстфх', 'о')
    default:
      return String.fromCodePoint(0xac00 + number, 0xb000 + number)
  }
}
