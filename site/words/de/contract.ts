/** What the contract of the interface says of its routes and fields, by its English words. */
export const CONTRACT: Readonly<Record<string, string>> = {
  'Overview of a repository, ref and folder': 'Übersicht eines Repositorys, Refs und Ordners',
  'Canonical address.': 'Kanonische Adresse.',
  'As requested; `null` for the default branch.': 'Wie verlangt; `null` für den Standardbranch.',
  'Full commit hash.': 'Vollständiger Hash des Commits.',
  'Canonical repository-root path, no leading or trailing slash; `""` is the root.':
    'Kanonischer Pfad von der Wurzel des Repositorys aus, ohne Schrägstrich am Anfang oder Ende; `""` ist die Wurzel.',
  'ISO 8601 instant, UTC, ending in `Z`.': 'Zeitpunkt nach ISO 8601, UTC, mit `Z` am Ende.',
  'The nearest manifest at or above the mounted folder.': 'Das nächste Manifest im Ordner der Adresse oder darüber.',
  'Limits of indexing were reached: the index is partial.':
    'Grenzen der Indexierung wurden erreicht: Der Index ist unvollständig.',
  'Inherited from the nearest manifest that declares one.': 'Geerbt vom nächsten Manifest, das eine angibt.',
  'Keyed by canonical language tag.': 'Nach kanonischem Sprachkürzel.',
  'SPDX expression, or the declared text.': 'SPDX-Ausdruck oder der angegebene Text.',
  'File that declares it.': 'Datei, die sie angibt.',
  'Present when the license permits only a description.': 'Vorhanden, wenn die Lizenz nur eine Beschreibung erlaubt.',
  'Present when the document may not be served.': 'Vorhanden, wenn das Dokument nicht ausgeliefert werden darf.',
  'Folder that the problem closed.': 'Ordner, den das Problem geschlossen hat.',
  'One folder, entry by entry': 'Ein Ordner, Eintrag für Eintrag',
  'Continues this listing; `null` on the last page.': 'Setzt diese Liste fort; `null` auf der letzten Seite.',
  'The manifest of this very folder.': 'Das Manifest genau dieses Ordners.',
  'On a `SKILL.md` and on its folder.': 'Bei einer `SKILL.md` und bei ihrem Ordner.',
  'On a `SKILL.md` and on its folder, and on a file that may not be served.':
    'Bei einer `SKILL.md` und bei ihrem Ordner, und bei einer Datei, die nicht ausgeliefert werden darf.',
  'Bytes.': 'Byte.',
  'Of the bytes of the file, where they are held.': 'Der Bytes der Datei, wo sie gespeichert sind.',
  'SHA-256, in lower-case hexadecimal digits.': 'SHA-256, in kleinen Hexadezimalziffern.',
  'Canonical folder inside the mount; default: the mounted folder.':
    'Kanonischer Ordner innerhalb der Adresse; Standard: der Ordner der Adresse.',
  '`nextCursor` of the page before; the other parameters, except `limit`, stay as they were.':
    '`nextCursor` der vorigen Seite; die anderen Parameter außer `limit` bleiben, wie sie waren.',
  'Entries on a page at most.': 'Einträge, die eine Seite höchstens hat.',
  'Ranked search over skills and documents': 'Suche in Skills und Dokumenten, nach Rang geordnet',
  'Supporting files that match, best first.': 'Begleitdateien, die passen, die besten zuerst.',
  'Not blank.': 'Nicht leer.',
  'Canonical folder inside the mount to search; default: the mounted folder.':
    'Kanonischer Ordner innerhalb der Adresse, der durchsucht wird; Standard: der Ordner der Adresse.',
  'Results on a page at most.': 'Ergebnisse, die eine Seite höchstens hat.',
  'A skill with its rules and includes, page by page': 'Ein Skill mit seinen Regeln und Einbindungen, Seite für Seite',
  'False while another call is required, or when required content is missing.':
    'Falsch, solange ein weiterer Aufruf nötig ist oder wenn benötigter Inhalt fehlt.',
  'Absent when paging cannot repair missing content.': 'Fehlt, wenn weitere Seiten fehlenden Inhalt nicht bringen.',
  'The rules on this page, root first.': 'Die Regeln auf dieser Seite, die der Wurzel zuerst.',
  'Supporting files; on the first page only.': 'Begleitdateien; nur auf der ersten Seite.',
  'Size and digest of the supporting files whose bytes are held; on the first page only.':
    'Größe und Prüfsumme der Begleitdateien, deren Bytes gespeichert sind; nur auf der ersten Seite.',
  'Of the whole skill, on the first page if nothing is missing: for each rule, the body (path of the `SKILL.md`) and each include, in order of delivery, the bytes of `<path>\\n<byte length>\\n<text>`.':
    'Des ganzen Skills, auf der ersten Seite, wenn nichts fehlt: für jede Regel, den Hauptteil (Pfad der `SKILL.md`) und jede Einbindung, in der Reihenfolge der Auslieferung, die Bytes von `<path>\\n<byte length>\\n<text>`.',
  'Optional reading; on the first page only.': 'Zum Lesen bei Bedarf; nur auf der ersten Seite.',
  'False when the license permits only a description.': 'Falsch, wenn die Lizenz nur eine Beschreibung erlaubt.',
  'The `SKILL.md` at its git host. If `full` is false and the repository is local, a deployment may answer 404 there: it withholds originals without a license.':
    'Die `SKILL.md` bei ihrem Git-Host. Ist `full` falsch und das Repository lokal, kann eine Installation dort 404 antworten: Sie hält Originale ohne Lizenz zurück.',
  'Index of the fragment in its file.': 'Nummer des Bruchstücks in seiner Datei, ab 0.',
  'A count of Unicode code points.': 'Eine Zahl von Unicode-Codepunkten.',
  'Exact canonical path of a `SKILL.md`.': 'Genauer kanonischer Pfad einer `SKILL.md`.',
  'One text file, page by page': 'Eine Textdatei, Seite für Seite',
  '`null` on the last page.': '`null` auf der letzten Seite.',
  'Bytes of the whole file.': 'Byte der ganzen Datei.',
  'Of the bytes of the whole file.': 'Der Bytes der ganzen Datei.',
  'Canonical path of a file inside the mount.': 'Kanonischer Pfad einer Datei innerhalb der Adresse.',
  'Characters before the page.': 'Zeichen vor der Seite.',
  'Characters on the page at most.': 'Zeichen, die die Seite höchstens hat.',
  'The addresses that the operator selected': 'Die Adressen, die der Betreiber ausgewählt hat',
  'In the order that the operator chose.': 'In der Reihenfolge, die der Betreiber gewählt hat.',
  'As on the mount.': 'Wie in der Übersicht.',
  'The nearest manifest at or above the folder of the address.': 'Das nächste Manifest im Ordner der Adresse oder darüber.',
  'Names of the first skills, in path order.': 'Namen der ersten Skills, in der Reihenfolge der Pfade.',
  'An account of the git host, its indexed repositories first': 'Ein Konto des Git-Hosts, seine indexierten Repositorys zuerst',
  'On the first page only: repositories whose default branch is indexed and has skills, most skills first.':
    'Nur auf der ersten Seite: Repositorys, deren Standardbranch indexiert ist und Skills hat, die mit den meisten zuerst.',
  'The others, most recently pushed first, as the host lists them.':
    'Die übrigen, zuletzt gepushte zuerst, wie der Host sie aufführt.',
  'As the host spells it.': 'In der Schreibweise des Hosts.',
  "The account's page at the host.": 'Die Seite des Kontos beim Host.',
  'As counted by the host.': 'Wie vom Host gezählt.',
  'Number of the page, from 1.': 'Nummer der Seite, ab 1.',
}
