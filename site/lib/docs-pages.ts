import type { PAGES } from '#words/en/en.ts'

/** A page of the documentation. Its text is a file of the project, so that the documentation and the handbook say the same. */
export interface DocsPage {
  /** Of its label in the catalogue, and of its translations: `docs/<language>/<name>.md`. */
  name: keyof (typeof PAGES)['docs']['labels']
  /** Its path below `/docs`; `''` is the first page. */
  slug: string
  /** Of the English text, from the root of the project; `null`: rendered from the contract of the interface. */
  source: string | null
}

const HANDBOOK = 'examples/handbook'

type DocsSection = { name: keyof (typeof PAGES)['docs']['sections']; pages: readonly DocsPage[] }

/** The pages in the order in which they are read. */
export const DOCS_SECTIONS: readonly DocsSection[] = [
  {
    name: 'start',
    pages: [
      { name: 'start', slug: '', source: 'docs/start.md' },
      page('addresses', `${HANDBOOK}/docs/addresses.md`),
      page('read', 'docs/read.md'),
      page('agents', 'docs/agents.md'),
      page('pin', 'docs/pin.md'),
      page('private', 'docs/private.md'),
    ],
  },
  {
    name: 'write',
    pages: [
      page('write-a-skill', `${HANDBOOK}/writing/write-a-skill/SKILL.md`),
      page('rules', `${HANDBOOK}/writing/write-rules/SKILL.md`),
      page('manifest-keys', `${HANDBOOK}/writing/write-rules/references/manifest-keys.md`),
      page('includes', `${HANDBOOK}/writing/include-and-refer/SKILL.md`),
      page('licenses', `${HANDBOOK}/writing/policy/choose-a-license/SKILL.md`),
      page('check', 'docs/check.md'),
      page('ci', 'docs/ci.md'),
      page('action', 'cli/action/README.md'),
      page('badges', 'docs/badges.md'),
    ],
  },
  {
    name: 'rest',
    pages: [
      page('rest', null),
      page('answers', `${HANDBOOK}/docs/answers.md`),
      page('changes', 'docs/changes.md'),
      page('errors', `${HANDBOOK}/docs/errors.md`),
      page('limits', `${HANDBOOK}/docs/limits.md`),
    ],
  },
  {
    name: 'run',
    pages: [page('settings', 'docs/settings.md'), page('operating', 'docs/operating.md'), page('security', 'docs/security.md')],
  },
]

function page(name: DocsPage['name'], source: string | null): DocsPage {
  return { name, slug: name, source }
}

export const DOCS_PAGES = DOCS_SECTIONS.flatMap(({ pages }) => pages)

export function docsHref({ slug }: Pick<DocsPage, 'slug'>): string {
  return slug === '' ? '/docs' : `/docs/${slug}`
}
