import type { Translation } from '../en/en.ts'
import type { FILES as EN_FILES } from '../en/files.ts'

/** Texts of a repository, and the pages of its files. */
export const FILES: Translation<typeof EN_FILES> = {
  text: {
    views: 'Ansicht des Textes',
    rendered: 'Gestaltet',
    exact: 'Genauer Text',
    tooLarge: 'Dieser Text ist zu groß, um gestaltet zu werden. Dies ist sein genauer Wortlaut.',
    unavailable:
      'Dieser Text lässt sich gerade nicht gestalten. Dies ist sein genauer Wortlaut; laden Sie die Seite neu, um ihn gestaltet zu sehen.',
    table: 'Tabelle',
    footnotes: 'Fußnoten',
    backTo: 'zurück zu {n}',
    done: 'erledigt',
    toDo: 'zu tun',
    image: 'Bild: {name}',
    noDescription: 'ohne Beschreibung',
  },
  file: {
    isSkill:
      'Dies ist nur die Datei. [Öffnen Sie sie als Skill](skill), um die Regeln und Dateien zu sehen, die ein Agent mit ihr erhält.',
    isManifest:
      'Dies ist ein Manifest. Ein Agent erhält seinen Text als [Regel](rules) vor [jedem Skill unter seinem Ordner](folder).',
    thisFile: 'Diese Datei',
    theText: 'Text',
    raw: 'Rohdatei',
    permalink: 'Permalink',
    empty: 'Diese Datei ist leer.',
    end: 'Dies ist das Ende der Datei.',
    pages: 'Seiten dieser Datei',
  },
  withheld: {
    title: 'Dieser Text wird nicht gezeigt',
    reasons: {
      none: 'Für diese Datei wurde keine Lizenz gefunden, also erlaubt nichts eine Kopie.',
      unknown: 'Von ihrer Lizenz ist nicht bekannt, dass sie eine Kopie erlaubt.',
      restricted: 'Ihre Lizenz, {license}, erlaubt keine Kopie.',
    },
    unlisted: 'Keine Lizenz, die bekannt ist, erlaubt eine Kopie dieser Datei.',
    receives: 'Ein Agent erhält ihren Pfad und ihren Titel, nie ihren Text.',
    skillReceives: 'Ein Agent erhält ihren Pfad, ihren Namen und ihre Beschreibung, nie ihren Text.',
    next: 'Was Sie tun können',
    originalAbout: 'Der Git-Host zeigt es unter seinen eigenen Bedingungen.',
    folder: '[Ansehen, was noch in {path} liegt](folder)',
    author: 'Wenn das Repository Ihnen gehört: [eine Lizenz angeben, die eine Kopie erlaubt](licenses).',
    found: '[Was hier gefunden wurde](diagnostics) nennt die Datei, die als seine Lizenz gelesen wurde.',
  },
  fileChanges: {
    refusals: {
      'file.not_text': 'kein Text',
      'file.too_large': 'zu groß, um gezeigt zu werden',
      'file.not_served': 'zurückgehalten: Keine Lizenz erlaubt eine Kopie',
    },
    refused: 'kann gerade nicht gelesen werden',
    sameText: 'Ihr Text ist gleich.',
    onlyExecutable: 'Ihr Text ist gleich: Nur ob sie ausführbar ist, hat sich geändert.',
    files: 'Begleitdateien',
    ownPage: 'Die Unterschiede dieser Dateien haben eigene Seiten:',
    pageOf: 'Seite {n} von {all}',
    openFile: 'die Datei öffnen',
  },
}
