/** A page of the documentation. Its text is a file of the project, so that the documentation and the handbook say the same. */
export interface DocsPage {
  /** Its path below `/docs`; `''` is the first page. */
  slug: string
  /** In the list of pages. */
  label: string
  /** From the root of the project; `null`: rendered from the contract of the interface. */
  source: string | null
}

const HANDBOOK = 'examples/handbook'

/** The pages in the order in which they are read. */
export const DOCS_SECTIONS: readonly { title: string; pages: readonly DocsPage[] }[] = [
  {
    title: 'Start',
    pages: [
      { slug: '', label: 'What it is', source: 'docs/start.md' },
      { slug: 'addresses', label: 'Addresses', source: `${HANDBOOK}/docs/addresses.md` },
      { slug: 'agents', label: 'Agents and MCP', source: 'docs/agents.md' },
    ],
  },
  {
    title: 'Write skills',
    pages: [
      { slug: 'write-a-skill', label: 'Skills that arrive whole', source: `${HANDBOOK}/writing/write-a-skill/SKILL.md` },
      { slug: 'rules', label: 'Manifests and rules', source: `${HANDBOOK}/writing/write-rules/SKILL.md` },
      {
        slug: 'manifest-keys',
        label: 'Keys of a manifest',
        source: `${HANDBOOK}/writing/write-rules/references/manifest-keys.md`,
      },
      { slug: 'includes', label: 'Includes and references', source: `${HANDBOOK}/writing/include-and-refer/SKILL.md` },
      { slug: 'licenses', label: 'Licenses', source: `${HANDBOOK}/writing/policy/choose-a-license/SKILL.md` },
      { slug: 'action', label: 'In GitHub Actions', source: 'indexer/action/README.md' },
    ],
  },
  {
    title: 'REST interface',
    pages: [
      { slug: 'rest', label: 'Reference', source: null },
      { slug: 'answers', label: 'Answers', source: `${HANDBOOK}/docs/answers.md` },
      { slug: 'errors', label: 'Errors', source: `${HANDBOOK}/docs/errors.md` },
      { slug: 'limits', label: 'Limits', source: `${HANDBOOK}/docs/limits.md` },
    ],
  },
  {
    title: 'Run it',
    pages: [
      { slug: 'settings', label: 'Settings', source: 'docs/settings.md' },
      { slug: 'operating', label: 'Operating', source: 'docs/operating.md' },
      { slug: 'security', label: 'Security model', source: 'docs/security.md' },
    ],
  },
]

export const DOCS_PAGES = DOCS_SECTIONS.flatMap(({ pages }) => pages)

export function docsHref({ slug }: Pick<DocsPage, 'slug'>): string {
  return slug === '' ? '/docs' : `/docs/${slug}`
}
