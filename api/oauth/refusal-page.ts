import type { Language } from '#words/languages.ts'
import { PAGE_T, type PageT } from '#words/t.ts'
import type { Authorization } from './authorize.ts'

/** What a browser is shown instead of the page on which the person decides. */
export type Refusal = Exclude<Authorization, { status: 'redirect' }>

/** The page of a request that no person can decide. */
export function formatRefusal(refusal: Refusal, language: Language): { status: number; html: string } {
  const t = PAGE_T[language]
  const title = t('refusal.title')
  const back = refusal.status === 'returnable' ? refusal : null
  const link =
    back &&
    `<a rel="noreferrer" href="${escapeHtml(back.location)}">${escapeHtml(t(`refusal.back.${back.to.kind}`, { host: back.to.host }))}</a>`
  const html = `<!doctype html><html lang="${language}"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${escapeHtml(sentenceOf(refusal, t))}</p>${link ? `<p>${link}</p>` : ''}</html>\n`
  return { status: refusal.status === 'unavailable' ? 503 : 400, html }
}

function sentenceOf(refusal: Refusal, t: PageT): string {
  switch (refusal.status) {
    case 'unavailable':
      return t('refusal.unavailable')
    case 'refused':
      // It repeats nothing of the request, which an attacker may have written.
      return t(`refusal.refused.${refusal.reason}`)
    case 'returnable':
      return t('refusal.returnable', { reason: refusal.reason })
  }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
