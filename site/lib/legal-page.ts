import type { LegalDocument, LegalKind } from '#core/contract/legal.ts'
import type { PageT } from '#words/t.ts'
import type { ApiClient } from './api-client.ts'
import { type ContentsEntry, contentsOf } from './contents.ts'
import { chooseLanguage } from './languages.ts'
import { renderMarkdown } from './render-markdown.ts'

/** A page that the operator wrote, in one language. */
export interface LegalPage {
  language: string
  title: string
  html: string
  headings: ContentsEntry[]
  revised: string | null
  /** Tags of the other languages. */
  others: string[]
}

/** @param wanted language tags, most wanted first. @returns `null` when the page is unwritten */
export async function loadLegalPage(
  client: ApiClient,
  kind: LegalKind,
  wanted: readonly string[],
  t: PageT,
): Promise<LegalPage | null> {
  const result = await client.get('legal', kind, {})
  return result.ok ? renderLegal(result.answer, wanted, t) : null
}

function renderLegal({ texts, revised }: LegalDocument, wanted: readonly string[], t: PageT): LegalPage | null {
  const languages = Object.keys(texts)
  const language = chooseLanguage(wanted, languages)
  const text = language === null ? undefined : texts[language]
  if (language === null || text === undefined) return null
  const html = renderMarkdown(text.body, { idPrefix: '', headingOffset: 0, resolveLink: resolveOperatorLink, t })
  return {
    language,
    title: text.title,
    html,
    headings: contentsOf(html),
    revised,
    others: languages.filter(one => one !== language),
  }
}

/** Links of the operator: to the web, by mail, or to a page of this origin. */
function resolveOperatorLink(href: string): string | null {
  return /^(?:https?:\/\/|mailto:|\/(?!\/)|#)/i.test(href) ? href : null
}
