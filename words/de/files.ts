import type { Translation } from '../en/en.ts'
import type { FILES as EN_FILES } from '../en/files.ts'

/** Texts of a repository, and the pages of its files. */
export const FILES: Translation<typeof EN_FILES> = {
  text: {
    views: 'Ansicht des Textes',
    rendered: 'Gestaltet',
    exact: 'Genauer Text',
    tooLarge: 'Dieser Text ist zu groß, um gestaltet zu werden. Das ist der genaue Text.',
    unavailable:
      'Dieser Text lässt sich gerade nicht gestalten. Das ist der genaue Text; laden Sie die Seite neu, um es noch einmal zu versuchen.',
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
      'Das ist nur die Datei. [Öffnen Sie den Skill](skill), um die Regeln und Dateien zu sehen, die Agenten mit ihr bekommen.',
    isManifest: 'Agenten bekommen den Text dieser Datei als [Regel](rules) vor [jedem Skill ihres Ordners](folder).',
    governs: 'Diese Datei gilt für {n} von {skills}.',
    governsAtLeast: 'Diese Datei gilt für mindestens {n} von {skills}.',
    declares: 'Zeile {line} dieser Datei nennt die Lizenz {license}, für {n} von {skills}.',
    declaresAtLeast: 'Zeile {line} dieser Datei nennt die Lizenz {license}, für mindestens {n} von {skills}.',
    isLink: '{path} ist ein Link auf [{target}](target).',
    theText: 'Text',
    raw: 'Rohdatei',
    permalink: 'Permalink',
    empty: 'Diese Datei ist leer.',
    end: 'Das ist das Ende der Datei.',
    pages: 'Seiten dieser Datei',
  },
  withheld: {
    reasons: {
      none: 'Text zurückgehalten: Für ihn wurde keine Lizenz gefunden.',
      unknown: 'Text zurückgehalten: Seine Lizenz kennen wir nicht ({license}).',
      restricted: 'Text zurückgehalten: Seine Lizenz erlaubt keine Kopien ({license}).',
    },
    unlisted: 'Text zurückgehalten: Keine Lizenz, die wir kennen, erlaubt Kopien davon.',
    receives: 'Agenten bekommen Pfad und Titel.',
    skillReceives: 'Agenten bekommen Namen und Beschreibung.',
    next: 'Was Sie tun können',
    folder: '[Ansehen, was noch in {path} liegt](folder)',
    author: 'Wenn das Repository Ihnen gehört: [eine Lizenz angeben, die Kopien erlaubt](licenses).',
  },
  present: {
    folder: '{path} ist ein Ordner.',
    file: '{path} ist eine Datei, kein Ordner.',
    fileBelow: '{path} ist eine Datei: Darunter liegt nichts.',
    noSkill: '{path} ist eine Datei, aber kein Skill, den Agenten laden können.',
    link: '{path} ist ein Link auf {target}.',
    linkNowhere: '{path} ist ein Link; worauf er zeigt, wird hier nicht gezeigt.',
    submodule: '{path} ist ein Submodul: ein anderes Repository, dessen Dateien hier nicht gezeigt werden.',
    picture: '{path} ist ein Bild; Bilder werden nicht gezeigt.',
    not_text: '{path} ist kein Text und wird deshalb nicht gezeigt.',
    lfs: 'Der Text von {path} liegt in Git LFS: Das Repository enthält nur einen Zeiger darauf.',
    too_large: '{path} ist zu groß, um gezeigt zu werden: Ein Text hat höchstens {limit}.',
    not_sent: '{path} wird Agenten nicht gesendet; deshalb wird der Text hier nicht gezeigt.',
    hidden:
      '{path} wird Agenten nicht gesendet; deshalb wird der Text hier nicht gezeigt: {hidden} ist ein versteckter Ordner, und dessen Dokumente fehlen.',
    outside: 'Diese Adresse zeigt nur {folder}, und {path} liegt außerhalb.',
    open: '[{path} öffnen](open)',
    whole: '[Im ganzen Repository danach suchen](whole)',
    keptBack: 'Auch das Original hält dieser Server zurück.',
  },
  fileChanges: {
    refusals: {
      'file.not_text': 'kein Text',
      'file.too_large': 'zu groß, um gezeigt zu werden',
      'file.not_served': 'zurückgehalten: Keine Lizenz erlaubt Kopien',
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
