import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { ListedFinding } from '#core/contract/findings.ts'
import { findFaults, thinOut } from './accessibility.js'
import {
  type Answers,
  browsePage,
  COMMIT,
  filePage,
  findingsPage,
  findPage,
  listedRepository,
  ownerPage,
  readyCard,
  readyMount,
  refusal,
  skillPage,
  whole,
} from './answers.ts'
import type { Site } from './site.ts'

/** Has no place where a line may break. */
const LONG = 'ARepositoryWithANameAsLongAsItsHostWouldHaveLetAnybodyGiveIt_and_no_longer'
const OPEN = { kind: 'open', name: 'MIT', source: 'LICENSE' } as const
const MANIFEST = {
  path: 'SKILLSET.md',
  name: 'Kit',
  description: `What we work with: ${LONG}.`,
  language: 'ar',
  translations: { de: { name: 'Satz' } },
}
const TEXT = [
  '# One\n\n> quoted [link](other.md) `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nconst long = 1\n```\n\n\u202ehidden\n',
  `## ${LONG}\n\n- ${LONG}\n`,
].join('\n')
const DIAGNOSTICS = (['error', 'warning', 'info'] as const).map(severity => ({
  code: 'x.y',
  severity,
  path: 'a.md',
  message: `Look at ${LONG}.`,
}))
const FINDINGS: ListedFinding[] = (['look', 'breaks', 'style'] as const).flatMap(level =>
  [1, 2].map(line => ({
    code: 'x.y',
    level,
    path: `skills/${LONG}/SKILL.md`,
    line,
    message: `Look at ${LONG}.`,
    skill: 'skills/pdf/SKILL.md',
  })),
)
const WARNINGS = [{ code: 'name.duplicate', level: 'style' as const, message: 'it is there twice' }]
const SKILL = {
  path: 'skills/pdf/SKILL.md',
  directory: 'skills/pdf',
  name: 'pdf',
  description: `Reads PDF files by ${LONG}.`,
  translations: {},
  license: OPEN,
  describedOnly: true,
} as const

const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The rules of axe that judge what is drawn. The others read the elements: on a desk and on a phone all of them are run. */
const AXE_DRAWN = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size']

const require = createRequire(import.meta.url)

/** Half as long as the readable file. A page takes as long to compile it as to run it. */
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds on the open page, a line each. @param rules names or tags. Default: all */
export async function runAxe(page: Page, rules: readonly string[] = AXE_TAGS): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE)
  // Of what is right, axe then tells no more than one example a rule, which takes it less time.
  const found = `axe.run({ runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 120) + ' ' + failureSummary)))`
  return page.evaluate<string[]>(found)
}

/** Every kind of page, in the states in which it has the most on it. */
export const ANSWERS: Answers = {
  featured: () => ({
    items: [
      readyCard(),
      readyCard(
        { address: `/gh/acme/${LONG}@v1/docs`, verified: true, image: 'https://mountglass.example/icon.svg' },
        { manifest: MANIFEST },
      ),
      readyCard({ address: '/gh/acme/later', index: { status: 'indexing' } }),
      readyCard({ index: { status: 'failed', errorCode: 'index.too_large', retryAt: '2026-03-04T05:06:07Z' } }),
    ],
  }),
  owners: ({ address, query }) => {
    if (address === 'gh/nobody') return refusal('owner.not_found')
    if (address === 'gh/later') return refusal('mount.rate_limited', { retryAfter: 1_500 })
    const repositories = [
      listedRepository({ fork: true, archived: true, stars: 12, name: LONG }),
      listedRepository({ description: null, pushedAt: null }),
    ]
    const { indexed, ...page } = ownerPage({ repositories, nextPage: 3 })
    return query.has('page') ? page : { ...page, indexed: indexed ?? [] }
  },
  mounts: ({ address }) => {
    if (address.includes('missing')) return refusal('mount.ref_not_found')
    if (address.includes('empty')) return refusal('mount.ref_not_found', { reason: 'empty' })
    if (address.includes('damaged')) return refusal('mount.unavailable', { reason: 'damaged' })
    if (address.includes('gone')) return refusal('mount.repo_not_found')
    if (address.includes('later')) return readyMount({}, { address: '/gh/acme/later', index: { status: 'indexing' } })
    if (address.includes('broken'))
      return readyMount(
        {},
        { address: '/gh/acme/broken', index: { status: 'failed', errorCode: 'index.timeout', retryAt: '2026-03-04T05:06:07Z' } },
      )
    const manifest = { ...MANIFEST, language: 'en' }
    const skills = [{ ...SKILL, warnings: WARNINGS }]
    const mount = readyMount({
      manifest,
      truncated: true,
      diagnostics: DIAGNOSTICS,
      skills,
      counts: { skills: 90, documents: 1 },
    })
    return { ...mount, address: '/gh/acme/tools', ref: 'v1' }
  },
  findings: () => findingsPage(FINDINGS),
  browse: () =>
    browsePage({
      path: 'skills',
      overview: { path: 'skills/README.md', title: `Skills ${LONG}`, description: `All of them: ${LONG}.` },
      entries: [
        {
          path: 'skills/pdf',
          kind: 'directory',
          counts: { skills: 1, documents: 2 },
          manifest: MANIFEST,
          skill: SKILL,
          license: OPEN,
          describedOnly: true,
        },
        {
          path: `skills/${LONG}.md`,
          kind: 'file',
          size: 7,
          title: `A file ${LONG}`,
          license: OPEN,
          describedOnly: true,
          delivered: false,
          why: 'withheld',
        },
        { path: 'skills/SKILLSET.md', kind: 'file', size: 7 },
        { path: 'skills/logo.png', kind: 'file', size: 7, delivered: false, why: 'not_delivered' },
        { path: 'skills/code.ts', kind: 'file', size: 7, delivered: false, why: 'not_delivered' },
        { path: 'skills/ln', kind: 'file', delivered: false, why: 'link', target: `skills/${LONG}.md` },
        {
          path: 'skills/sub',
          kind: 'directory',
          counts: { skills: 0, documents: 0, files: 0 },
          delivered: false,
          why: 'submodule',
        },
        { path: `skills/${LONG}`, kind: 'directory', counts: { skills: 0, documents: 0, files: 41 }, delivered: false },
      ],
      nextCursor: 'next',
      diagnostics: DIAGNOSTICS,
    }),
  find: () =>
    findPage({
      items: [
        {
          kind: 'skill',
          ...SKILL,
          files: [{ path: `skills/pdf/${LONG}.md`, title: `Forms ${LONG}`, summary: `How to fill a pdf by ${LONG}.` }],
          moreFiles: 2,
        },
        { kind: 'document', path: 'docs/guide.md', title: `Guide ${LONG}`, summary: `How to begin with pdf and ${LONG}.` },
      ],
      nextCursor: 'next',
    }),
  refs: () => ({
    defaultBranch: 'main',
    branches: [
      { name: 'main', commit: 'b'.repeat(40) },
      { name: LONG, commit: COMMIT },
    ],
    tags: [{ name: 'v1' }, { name: `feature/${LONG}` }],
    truncated: true,
  }),
  skills: ({ query }) =>
    query.get('path') === 'two'
      ? refusal('skill.ambiguous', { directories: ['a/pdf', 'b/pdf'] })
      : skillPage(
          {
            body: TEXT,
            bodyFragment: whole(TEXT),
            warnings: WARNINGS,
            ruleChain: [{ path: 'SKILLSET.md', content: TEXT, fragment: whole(TEXT) }],
            includes: [{ path: `shared/${LONG}.ts`, content: TEXT, fragment: whole(TEXT) }],
            files: [`skills/pdf/${LONG}.md`],
            oversized: [{ path: 'big.bin', size: 9_999_999, sourceUrl: 'https://host.example/big.bin' }],
            frontMatter: { compatibility: 'needs git' },
          },
          { complete: false, nextCursor: 'next', diagnostics: DIAGNOSTICS },
        ),
  files: ({ query }) =>
    query.get('path') === 'big'
      ? refusal('file.too_large', { sourceUrl: 'https://host.example/big' })
      : query.get('path') === `skills/${LONG}.md`
        ? refusal('file.not_served', { sourceUrl: 'https://host.example/closed' })
        : query.get('path') === 'skills/SKILLSET.md'
          ? filePage({
              path: 'skills/SKILLSET.md',
              content: `---\nexclude:\n  - ${LONG}/**\n  - "!a\u202eb"\n${'  - x\n'.repeat(9)}---\n`,
            })
          : ['skills/ln', 'skills/logo.png', 'skills/code.ts', 'skills/sub'].includes(query.get('path') ?? '')
            ? refusal('file.not_found', { sourceUrl: 'https://host.example/original' })
            : query.get('path') === 'skills/pd'
              ? refusal('file.not_found')
              : filePage({ path: 'docs/guide.md', content: TEXT, nextOffset: 9, commit: COMMIT }),
}

/** Every kind of page in every state. */
export const PAGES = [
  '/',
  '/open?address=https://example.com/x',
  '/nothing',
  '/owners/gh/acme',
  '/owners/gh/acme?page=2',
  '/owners/gh/nobody',
  '/owners/gh/later',
  '/gh/acme/tools',
  '/gh/acme/tools?view=browse&path=skills&cursor=x',
  '/gh/acme/tools?view=find',
  '/gh/acme/tools?view=find&query=pdf&path=skills&cursor=x',
  '/gh/acme/tools?view=skill&path=skills/pdf/SKILL.md',
  '/gh/acme/tools?view=skill&path=skills/pdf/SKILL.md&cursor=x&look=exact',
  '/gh/acme/tools?view=skill&path=two',
  '/gh/acme/tools?view=file&path=docs/guide.md&offset=3',
  '/gh/acme/tools?view=file&path=docs/guide.md&look=exact',
  '/gh/acme/tools?view=file&path=big',
  `/gh/acme/tools?view=file&path=skills/${LONG}.md`,
  '/gh/acme/later',
  '/gh/acme/broken',
  '/gh/acme/tools?view=findings',
  '/gh/acme/tools?view=findings&by=skill',
  '/gh/acme/tools@v1?view=refs',
  '/docs',
  '/docs/rest',
  '/gh/acme/missing@v9',
  '/gh/acme/gone@v1/docs',
  '/gh/acme/tools?view=file&path=skills/pd',
  '/gh/acme/tools?view=browse&path=skills&files=delivered',
  '/gh/acme/tools?view=file&path=skills/ln',
  '/gh/acme/tools?view=file&path=skills/logo.png',
  '/gh/acme/tools?view=file&path=skills/sub',
  '/gh/acme/tools?view=nope',
  '/gh/acme/empty',
  '/gh/acme/damaged',
]

/** How a visitor sees a page. A browser changes this while the page is open. */
export interface Look {
  viewport: { width: number; height: number }
  colorScheme?: 'dark'
  forcedColors?: 'active'
  reducedMotion?: 'reduce'
  contrast?: 'more'
  /** Turns the page as a language that is written from right to left would. */
  isRightToLeft?: boolean
}

const PLAIN = {
  colorScheme: 'light',
  forcedColors: 'none',
  reducedMotion: 'no-preference',
  contrast: 'no-preference',
} as const

/** A page of more elements repeats itself: for its other looks axe is given a few elements of each kind. It takes a second for four hundred of them. */
const MANY_ELEMENTS = 1_000

/** Pages that load themselves again where no script runs, while they are looked at. */
const RELOADING = ['/', '/gh/acme/later']

/**
 * What is wrong with any page in any state and in any look, a line each: for people, by the policy of the page, and requests that leave the
 * site. Each page is loaded once, and all rules of axe are run in its first look, on all of it.
 *
 * @param isForAxe the pages on which axe is run. Default: all
 */
export async function findFaultsOfPages(
  browser: Browser,
  site: Site,
  looks: readonly Look[],
  options: BrowserContextOptions = {},
  isForAxe: (target: string) => boolean = () => true,
): Promise<string[]> {
  const context = await browser.newContext(options)
  // axe waits by timers, which are scripts of the page.
  const hasScript = options.javaScriptEnabled !== false
  const found: string[] = []
  try {
    const page = await context.newPage()
    let target = ''
    // The status of a page of an error is no fault of the page.
    page.on(
      'console',
      message =>
        message.type() === 'error' &&
        !message.text().startsWith('Failed to load resource') &&
        found.push(`${target} ${message.text()}`),
    )
    page.on(
      'request',
      request => !request.url().startsWith(`${site.origin}/`) && found.push(`${target} asks for ${request.url()}`),
    )
    // A page that waits is replaced after a minute, by its own clock.
    if (hasScript) await page.clock.setFixedTime(new Date())
    for (target of hasScript ? PAGES : PAGES.filter(path => !RELOADING.includes(path))) {
      await page.goto(site.origin + target)
      const note = (look: Look, faults: readonly string[]) =>
        found.push(...faults.map(fault => `${target} in ${JSON.stringify(look)}: ${fault}`))
      const needsAxe = hasScript && isForAxe(target)
      const isLarge = (await page.evaluate<number>('document.querySelectorAll("*").length')) > MANY_ELEMENTS
      for (const look of looks) {
        await show(page, look)
        note(look, await page.evaluate(findFaults))
        if (needsAxe && look === looks[0]) note(look, await runAxe(page))
        else if (needsAxe && !isLarge) note(look, await runAxe(page, AXE_DRAWN))
      }
      if (!needsAxe || !isLarge) continue
      await page.evaluate(thinOut)
      for (const look of looks.slice(1)) {
        await show(page, look)
        note(look, await runAxe(page, AXE_DRAWN))
      }
    }
  } finally {
    await context.close()
  }
  return found
}

/** Every language of the pages is written from left to right. */
async function show(page: Page, { viewport, isRightToLeft = false, ...media }: Look): Promise<void> {
  await page.setViewportSize(viewport)
  await page.emulateMedia({ ...PLAIN, ...media })
  await page.evaluate(`document.documentElement.dir = '${isRightToLeft ? 'rtl' : 'ltr'}'`)
}
