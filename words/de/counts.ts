import type { Words } from '../en/en.ts'

/** Words that are counted, by the plural category of the number. */
export const COUNTS: Words['counts'] = {
  skill: { one: '{n} Skill', other: '{n} Skills' },
  commit: { one: '{n} Commit', other: '{n} Commits' },
  document: { one: '{n} Dokument', other: '{n} Dokumente' },
  error: { one: '{n} Fehler', other: '{n} Fehler' },
  finding: { one: '{n} Befund', other: '{n} Befunde' },
  moreFile: { one: '{n} weitere Datei', other: '{n} weitere Dateien' },
  nestedFile: { one: '{n} weitere in Ordnern darunter', other: '{n} weitere in Ordnern darunter' },
  publicRepository: { one: '{n} öffentliches Repository', other: '{n} öffentliche Repositorys' },
  star: { one: '{n} Stern', other: '{n} Sterne' },
  place: { one: '{n} Stelle', other: '{n} Stellen' },
  file: { one: '{n} Datei', other: '{n} Dateien' },
  otherFile: { one: '{n} andere Datei', other: '{n} andere Dateien' },
  text: { one: '{n} Text', other: '{n} Texte' },
  warning: { one: '{n} Warnung', other: '{n} Warnungen' },
  folderWithSkills: { one: '{n} Ordner mit Skills', other: '{n} Ordner mit Skills' },
  referenceTitle: { one: '{n} Verweis', other: '{n} Verweise' },
  supportingFile: { one: '{n} Begleitdatei', other: '{n} Begleitdateien' },
  character: { one: '{n} Zeichen', other: '{n} Zeichen' },
  token: { one: '~{n} Token', other: '~{n} Tokens' },
  page: { one: '{n} Seite', other: '{n} Seiten' },
  byte: { one: '{n} Byte', other: '{n} Byte' },
  day: { one: '{n} Tag', other: '{n} Tagen' },
  second: { one: '{n} Sekunde', other: '{n} Sekunden' },
  minute: { one: '{n} Minute', other: '{n} Minuten' },
  hidden: {
    one: '{n} unsichtbares Zeichen ist in diesem Text markiert. Ein Agent erhält es wie jedes andere Zeichen.',
    other: '{n} unsichtbare Zeichen sind in diesem Text markiert. Ein Agent erhält sie wie alle anderen Zeichen.',
  },
}
