import { describe, expect, test } from 'vitest'
import type { ChangedSkill, ChangesAnswer } from '#core/contract/changes.ts'
import {
  type Answers,
  browsePage,
  COMMIT,
  filePage,
  findingsPage,
  findPage,
  HOSTILE,
  readyMount,
  refusal,
  skillPage,
  whole,
} from './support/answers.ts'
import { attributesOf, dangersOf } from './support/html.ts'
import { open, PAGE, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

describe('hostile words', () => {
  const listing = { path: `${HOSTILE}/SKILL.md`, directory: HOSTILE, name: HOSTILE, description: HOSTILE }
  const license = { kind: 'open', name: HOSTILE, source: HOSTILE } as const
  const manifest = {
    path: HOSTILE,
    name: HOSTILE,
    description: HOSTILE,
    language: '"><script>',
    translations: { [HOSTILE]: { name: HOSTILE } },
  }
  const diagnostics = [
    { code: HOSTILE, severity: 'error' as const, path: HOSTILE, boundary: HOSTILE, field: HOSTILE, message: HOSTILE },
  ]
  const warnings = [{ code: HOSTILE, level: 'look' as const, field: HOSTILE, message: HOSTILE }]
  const document = { path: HOSTILE, title: HOSTILE, summary: HOSTILE }
  const body = `${HOSTILE}\n\n[x](javascript:alert(1)) ![x](http://evil.example/x.png) <iframe src=//evil.example>\n\n<style>*{}</style>\n\n# ${HOSTILE}\n\n|a|\n|:-:|\n|${HOSTILE}|\n`
  const answers: Answers = {
    mounts: () =>
      readyMount({
        manifest,
        license,
        skills: [{ ...listing, warnings, translations: {}, license, describedOnly: true }],
        documents: [document],
        diagnostics,
      }),
    browse: () =>
      browsePage({
        path: HOSTILE,
        overview: { path: HOSTILE, title: HOSTILE, description: HOSTILE },
        entries: [
          {
            path: HOSTILE,
            kind: 'directory',
            counts: { skills: 1, documents: 1 },
            manifest,
            overviewPath: HOSTILE,
            skill: { ...listing, translations: {} },
            license,
          },
          { path: HOSTILE, kind: 'file', size: 1, title: HOSTILE },
        ],
        diagnostics,
        nextCursor: HOSTILE,
      }),
    find: () =>
      findPage({
        query: HOSTILE,
        items: [
          {
            kind: 'skill',
            ...listing,
            translations: {},
            license,
            files: [document],
            moreFiles: 1,
            copies: [`${HOSTILE}/SKILL.md`],
            moreCopies: 1,
          },
          { kind: 'document', ...document },
        ],
        diagnostics,
        nextCursor: HOSTILE,
      }),
    skills: () =>
      skillPage(
        {
          ...listing,
          warnings,
          frontMatter: { [HOSTILE]: HOSTILE, list: [HOSTILE], map: { [HOSTILE]: HOSTILE } },
          translations: { [HOSTILE]: { name: HOSTILE } },
          serving: { license, full: true, sourceUrl: `javascript:${HOSTILE}` },
          ruleChain: [{ path: `${HOSTILE}.md`, content: body, fragment: whole(body) }],
          body,
          bodyFragment: whole(body),
          includes: [{ path: `${HOSTILE}.md`, content: body, fragment: whole(body) }],
          files: [HOSTILE],
          references: [HOSTILE],
          oversized: [{ path: HOSTILE, size: 1, sourceUrl: `javascript:${HOSTILE}` }],
        },
        { complete: false, nextCursor: HOSTILE, diagnostics },
      ),
    files: () => filePage({ path: `${HOSTILE}.md`, content: body, nextOffset: 5, totalLength: 999 }),
    findings: () =>
      findingsPage(
        ['a', 'b'].map(code => ({
          code,
          level: 'look',
          path: HOSTILE,
          line: 2,
          message: HOSTILE,
          skill: HOSTILE,
          name: HOSTILE,
        })),
      ),
  }
  const older = { ref: HOSTILE, commit: 'b'.repeat(40) } as const
  const side = { sha256: null, bytes: 1, tokens: 1, license, full: true, complete: true } as const
  const point = { path: `${HOSTILE}/SKILL.md`, line: 1 }
  const changed: ChangedSkill = {
    kind: 'skill',
    ...listing,
    change: 'changed',
    parts: ['body', 'files', 'rules', 'license'],
    causes: (['files', 'rules', 'license'] as const).map(part => ({ part, path: HOSTILE, change: 'changed' })),
    before: side,
    after: side,
    facts: {
      description: { before: null, after: HOSTILE },
      commands: [{ command: HOSTILE, ...point }],
      hosts: [{ host: HOSTILE, ...point }],
      executables: [HOSTILE],
      allowedTools: { before: HOSTILE, after: [HOSTILE] },
    },
  }
  const one = { added: 0, removed: 0, changed: 1, moved: 0 }
  const compared: ChangesAnswer = {
    status: 'ready',
    commit: COMMIT,
    from: { ...older, status: 'ready' },
    to: { ref: null, commit: COMMIT, status: 'ready' },
    path: '',
    counts: { skills: one, documents: one, manifests: one },
    notCompared: { skills: 1, documents: 1 },
    items: [changed, { ...changed, parts: ['body'], causes: [], facts: {} }],
    diagnostics: [],
    nextCursor: null,
  }
  /** Of a branch of this name, opened at a commit. */
  const pinned = () => {
    const mount = readyMount({}, { pinned: true, ref: COMMIT })
    return { ...mount, repository: { ...mount.repository, defaultBranch: HOSTILE } }
  }
  const readFirst = { files: [{ path: HOSTILE, delivered: true }], nested: 1 }
  const refs = () => ({
    defaultBranch: HOSTILE,
    branches: [{ name: HOSTILE, commit: COMMIT }],
    tags: [{ name: HOSTILE, commit: older.commit }],
    truncated: false,
  })

  test.each<[string, Answers?]>([
    [''],
    ['', { mounts: pinned }],
    ['', { mounts: () => readyMount({ counts: { skills: 999, documents: 1 }, readFirst }) }],
    ['?view=browse'],
    ['?view=find&query=x'],
    ['?view=findings'],
    ['?view=findings&by=skill'],
    ['?view=refs', { refs }],
    ['?view=skill&path=x'],
    ['?view=skill&path=x&look=rendered'],
    ['?view=file&path=x'],
    ['?view=file&path=x&look=rendered'],
    ['?view=changes&from=v1', { refs, changes: () => compared }],
    [
      '?view=changes&from=v1',
      { refs, changes: () => ({ ...compared, items: compared.items.slice(1) }), mounts: () => readyMount({ readFirst }) },
    ],
    [
      '?view=changes&from=v1',
      { refs, changes: () => ({ status: 'indexing', commit: COMMIT, from: { ...older, status: 'indexing' }, to: compared.to }) },
    ],
  ])('stay words on the page%s', async (query, given = {}) => {
    const { get } = await open({ ...answers, ...given })
    const { status, html } = await get(PAGE + query)
    expect([200, 202]).toContain(status)
    expect(html).toContain('alert(1)')
    expect(dangersOf(html)).toEqual([])
    expect(attributesOf(html, 'a', 'href').filter(href => /^(?!\/(?!\/)|[#?])/.test(href))).toEqual([])
    // An override of the writing direction stands nowhere but inside its own mark.
    expect(html.replace(/<bdi class="hidden-character"[^>]*>[^<]*<\/bdi>/g, '')).not.toContain('\u202e')
  })

  test('of an error and of a request stay words too', async () => {
    const { get } = await open({ skills: () => refusal('skill.ambiguous', { directories: [HOSTILE] }) })
    const word = encodeURIComponent(HOSTILE)
    for (const target of [
      `${PAGE}?view=skill&path=${word}`,
      `${PAGE}?view=find&path=${word}`,
      `/local/${word}`,
      `/open?address=${word}`,
      `/${word}`,
    ]) {
      expect(dangersOf((await get(target)).html)).toEqual([])
    }
  })
})
