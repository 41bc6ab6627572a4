import { fill } from '#words/fill.ts'
import type { Language } from '#words/languages.ts'
import type { Authorization } from './authorize.ts'

/** What a browser is shown instead of the page on which the person decides. */
export type Refusal = Exclude<Authorization, { status: 'redirect' }>
type RefusedReason = Extract<Authorization, { status: 'refused' }>['reason']
type RedirectKind = Extract<Authorization, { status: 'returnable' }>['to']['kind']

interface PageWords {
  title: string
  unavailable: string
  /** These texts repeat nothing of the request, which an attacker may have written. */
  refused: Readonly<Record<RefusedReason, string>>
  /** `reason` is for the developer of the app, who gets the same text, in English. */
  returnable: string
  /** What the link back to an app says: no one here approved the place to which it leads. */
  back: Readonly<Record<RedirectKind, string>>
}

const WORDS: Readonly<Record<Language, PageWords>> = {
  en: {
    title: 'The app cannot be connected',
    unavailable: 'The metadata of the app cannot be read now. Go back to the app, and try again later.',
    refused: {
      unknown_client: 'The app is not known here, or its metadata is not valid. Go back to the app, and connect it anew.',
      unknown_redirect:
        'The app did not register the place where it wants you to go back to. Go back to the app, and connect it anew.',
      repeated_parameter: 'The link of the app is malformed. Go back to the app, and connect it anew.',
    },
    returnable: 'The app sent a request that is not valid: {reason}.',
    back: {
      web: 'Go back to {host}',
      loopback: 'Go back to the app on this computer ({host})',
      application: 'Open the application of links that begin with {host}:',
    },
  },
  de: {
    title: 'Die App kann nicht verbunden werden',
    unavailable:
      'Die Metadaten der App lassen sich gerade nicht lesen. Kehren Sie zur App zurück, und versuchen Sie es später erneut.',
    refused: {
      unknown_client:
        'Die App ist hier nicht bekannt, oder ihre Metadaten sind ungültig. Kehren Sie zur App zurück, und verbinden Sie sie neu.',
      unknown_redirect:
        'Die App hat den Ort nicht registriert, zu dem Sie zurückkehren sollen. Kehren Sie zur App zurück, und verbinden Sie sie neu.',
      repeated_parameter: 'Der Link der App ist fehlerhaft. Kehren Sie zur App zurück, und verbinden Sie sie neu.',
    },
    returnable: 'Die App hat eine ungültige Anfrage gesendet: {reason}.',
    back: {
      web: 'Zurück zu {host}',
      loopback: 'Zurück zur App auf diesem Rechner ({host})',
      application: 'Die Anwendung für Links öffnen, die mit {host}: beginnen',
    },
  },
}

/** The page of a request that no person can decide. */
export function formatRefusal(refusal: Refusal, language: Language): { status: number; html: string } {
  const { title, ...words } = WORDS[language]
  const back = refusal.status === 'returnable' ? refusal : null
  const link =
    back && `<a rel="noreferrer" href="${escapeHtml(back.location)}">${escapeHtml(fill(words.back[back.to.kind], back.to))}</a>`
  const html = `<!doctype html><html lang="${language}"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${escapeHtml(sentenceOf(refusal, words))}</p>${link ? `<p>${link}</p>` : ''}</html>\n`
  return { status: refusal.status === 'unavailable' ? 503 : 400, html }
}

function sentenceOf(refusal: Refusal, words: Omit<PageWords, 'title'>): string {
  switch (refusal.status) {
    case 'unavailable':
      return words.unavailable
    case 'refused':
      return words.refused[refusal.reason]
    case 'returnable':
      return fill(words.returnable, { reason: refusal.reason })
  }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
