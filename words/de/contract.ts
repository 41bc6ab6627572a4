/** What the contract of the interface says of its routes and fields, by its English words. */
export const CONTRACT: Readonly<Record<string, string>> = {
  'Overview of a repository, ref and folder': 'Übersicht eines Repositorys, Refs und Ordners',
  'Commits that changed what a skill delivers, or what a mount lists':
    'Commits, die geändert haben, was ein Skill ausliefert oder eine Adresse aufführt',
  'Its first parent; `null` when the history begins here.': 'Sein erster Vorgänger; `null`, wo die Historie beginnt.',
  'First line of the message of the commit; `null` when the license of the skill permits a description only.':
    'Erste Zeile der Nachricht des Commits; `null`, wenn die Lizenz des Skills nur eine Beschreibung erlaubt.',
  'The latest first.': 'Der letzte zuerst.',
  'The delivered files whose commits are listed. A host may not tell those of all files cheaply.':
    'Die ausgelieferten Dateien, deren Commits aufgeführt sind. Ein Host sagt die Commits aller Dateien womöglich nicht ohne großen Aufwand.',
  'Older commits, or commits of other files of the skill or the folder, may be missing.':
    'Ältere Commits, oder Commits anderer Dateien des Skills oder des Ordners, können fehlen.',
  'What the author of skills and manifests should know': 'Was der Autor von Skills und Manifesten wissen sollte',
  '`look`: hidden from readers of the rendered page. `breaks`: an agent or a program receives less than its author meant. `style`: all of it arrives.':
    '`look`: auf der gestalteten Seite nicht zu sehen. `breaks`: Ein Agent oder ein Programm bekommt weniger, als der Autor meinte. `style`: Alles kommt an.',
  'Canonical folder inside the mount, or exact path of a `SKILL.md`; default: the mounted folder.':
    'Kanonischer Ordner innerhalb der Adresse oder genauer Pfad einer `SKILL.md`; Standard: der Ordner der Adresse.',
  'Only findings of this level; default: all.': 'Nur Befunde dieser Stufe; Standard: alle.',
  'Findings on a page at most.': 'Höchstens so viele Befunde auf einer Seite.',
  'The file or folder to look at.': 'Die Datei oder der Ordner, um den es geht.',
  'Counted from 1; the first of several. Absent where it is not known.':
    'Von 1 an gezählt; von mehreren die erste. Fehlt, wo sie nicht bekannt ist.',
  'Of the front matter.': 'Im Frontmatter.',
  'What to do.': 'Was zu tun ist.',
  'The `SKILL.md` that it concerns.': 'Die `SKILL.md`, die er betrifft.',
  'Of the skill that it concerns, or at whose `SKILL.md` it stands.':
    'Des Skills, den er betrifft oder an dessen `SKILL.md` er steht.',
  'How many skills it keeps from agents, in full or in part, where it stands at another file.':
    'Wie viele Skills er Agenten ganz oder teilweise vorenthält, wenn er an einer anderen Datei steht.',
  'Findings of each level, whatever `level` asks for.': 'Befunde jeder Stufe, was immer `level` verlangt.',
  'By level, path, line, code and message.': 'Nach Stufe, Pfad, Zeile, Code und Meldung.',
  'Says whether the index is partial.': 'Sagt, ob der Index unvollständig ist.',
  'Branches and tags of the repository': 'Branches und Tags des Repositorys',
  'In byte order of their names.': 'In der Byte-Reihenfolge ihrer Namen.',
  'What the tag leads to. Absent where that is no commit, or cannot be said now.':
    'Wohin das Tag führt. Fehlt, wo das kein Commit ist oder gerade nicht gesagt werden kann.',
  'Of the commit; present where the host tells it without a question a tag.':
    'Das des Commits; vorhanden, wo der Host es ohne eine Frage je Tag sagt.',
  'The repository has more branches or more tags than are listed.':
    'Das Repository hat mehr Branches oder mehr Tags, als aufgeführt sind.',
  'Date of the commit; absent where it is not known.': 'Datum des Commits; fehlt, wo es nicht bekannt ist.',
  'Canonical address.': 'Kanonische Adresse.',
  'As requested; `null` for the default branch.': 'Wie verlangt; `null` für den Standardbranch.',
  'Full commit hash.': 'Vollständiger Hash des Commits.',
  'Canonical repository-root path, no leading or trailing slash; `""` is the root.':
    'Kanonischer Pfad von der Wurzel des Repositorys aus, ohne Schrägstrich am Anfang oder Ende; `""` ist die Wurzel.',
  'ISO 8601 instant, UTC, ending in `Z`.': 'Zeitpunkt nach ISO 8601, UTC, mit `Z` am Ende.',
  'The nearest manifest at or above the mounted folder.': 'Das nächste Manifest im Ordner der Adresse oder darüber.',
  'Limits of indexing were reached: the index is partial.':
    'Grenzen der Indexierung wurden erreicht: Der Index ist unvollständig.',
  'What an index job does at present: it opens the repository, then reads its tree, its manifests and licenses, and its content; at last it writes.':
    'Was ein Indexjob gerade tut: Er öffnet das Repository, liest dann seinen Baum, seine Manifeste und Lizenzen und seinen Inhalt; zuletzt schreibt er.',
  'Absent while the job waits for its turn.': 'Fehlt, solange der Job wartet, bis er an der Reihe ist.',
  'Absent where nothing is counted.': 'Fehlt, wo nichts gezählt wird.',
  'Of the stage `content`: how many files were read, and how many are to be read.':
    'Vom Schritt `content`: wie viele Dateien gelesen wurden, und wie viele zu lesen sind.',
  'Inherited from the nearest manifest that declares one.': 'Geerbt vom nächsten Manifest, das eine angibt.',
  'Keyed by canonical language tag.': 'Nach kanonischem Sprachkürzel.',
  'SPDX expression, or the declared text.': 'SPDX-Ausdruck oder der angegebene Text.',
  'File that declares it.': 'Datei, die sie angibt.',
  'Line of `source` that declares it, from 1; absent where the file is the license, or no single line says so.':
    'Zeile von `source`, in der sie angegeben ist, ab 1; fehlt, wo die Datei selbst die Lizenz ist oder keine einzelne Zeile es sagt.',
  'On the first page of a skill that is served in full and listed; absent where there are none.':
    'Auf der ersten Seite eines Skills, der vollständig gezeigt wird und aufgeführt ist; fehlt, wo es keine gibt.',
  'Hosts of the http(s) links in its texts and served files, each once.':
    'Hosts der http(s)-Links in seinen Texten und gezeigten Dateien, jeder einmal.',
  'Commands in them that download and run, install, change rights, remove, decode or reach another machine; as written, at most 200 characters.':
    'Befehle darin, die herunterladen und ausführen, installieren, Rechte ändern, löschen, entschlüsseln oder einen anderen Rechner erreichen; wie geschrieben, höchstens 200 Zeichen.',
  'Its files that git has as executable.': 'Seine Dateien, die in Git als ausführbar stehen.',
  'Where a symbolic link leads, if this address can read it there, too.':
    'Wohin ein symbolischer Link führt, wenn diese Adresse es auch dort lesen kann.',
  'Present when the license permits only a description.': 'Vorhanden, wenn die Lizenz nur eine Beschreibung erlaubt.',
  'Present when the document may not be served.': 'Vorhanden, wenn das Dokument nicht ausgeliefert werden darf.',
  'Folder that the problem closed.': 'Ordner, den das Problem geschlossen hat.',
  'One folder, entry by entry': 'Ein Ordner, Eintrag für Eintrag',
  'Continues this listing; `null` on the last page.': 'Setzt diese Liste fort; `null` auf der letzten Seite.',
  'The manifest of this very folder.': 'Das Manifest genau dieses Ordners.',
  'On a `SKILL.md` and on its folder.': 'Bei einer `SKILL.md` und bei ihrem Ordner.',
  'On a `SKILL.md` and on its folder, and on a file that may not be served.':
    'Bei einer `SKILL.md` und bei ihrem Ordner, und bei einer Datei, die nicht ausgeliefert werden darf.',
  'Of all that an agent receives of it, an estimate; absent when the license permits only a description.':
    'Von allem, was ein Agent davon erhält, geschätzt; fehlt, wenn die Lizenz nur eine Beschreibung erlaubt.',
  'What the whole skill takes; on the first page only.': 'Was der ganze Skill braucht; nur auf der ersten Seite.',
  'Bytes of the whole text.': 'Byte des ganzen Textes.',
  'Tokens of the whole text, an estimate.': 'Tokens des ganzen Textes, geschätzt.',
  'An estimate.': 'Geschätzt.',
  'An estimate: each model counts with its own encoding.': 'Geschätzt: Jedes Modell zählt mit seiner eigenen Kodierung.',
  'Calls until the skill is complete.': 'Aufrufe, bis der Skill vollständig ist.',
  'Present when the piece begins within a line, whose sign stands in the piece before.':
    'Vorhanden, wenn das Stück innerhalb einer Zeile beginnt, deren Zeichen im Stück davor steht.',
  'Bytes.': 'Byte.',
  'Of the bytes of the file, where they are held.': 'Der Bytes der Datei, wo sie gespeichert sind.',
  'SHA-256, in lower-case hexadecimal digits.': 'SHA-256, in kleinen Hexadezimalziffern.',
  'Canonical folder inside the mount; default: the mounted folder.':
    'Kanonischer Ordner innerhalb der Adresse; Standard: der Ordner der Adresse.',
  '`nextCursor` of the page before; the other parameters, except `limit`, stay as they were.':
    '`nextCursor` der vorigen Seite; die anderen Parameter außer `limit` bleiben, wie sie waren.',
  '`all` also lists what is in the tree and agents do not get, except what a manifest excludes or closes. Default: `delivered`.':
    '`all` führt auch auf, was im Baum liegt und Agenten nicht erhalten, außer dem, was ein Manifest ausschließt oder sperrt. Standard: `delivered`.',
  'Why agents do not get the text of the entry; of several reasons the first. `withheld`: its license permits no copy. `not_delivered`: it is not of a kind that is delivered.':
    'Warum Agenten den Text des Eintrags nicht erhalten; von mehreren Gründen der erste. `withheld`: Seine Lizenz erlaubt keine Kopie. `not_delivered`: Er ist von keiner Art, die ausgeliefert wird.',
  'Only with `files=all`: agents do not get the text of the file, or of any file below the folder.':
    'Nur mit `files=all`: Agenten erhalten den Text der Datei nicht, oder den keiner Datei in dem Ordner.',
  'Only with `files=all`, of a symbolic link: where it leads. Absent where no answer of this address could list that.':
    'Nur mit `files=all`, bei einem symbolischen Link: wohin er führt. Fehlt, wo keine Antwort dieser Adresse das aufführen könnte.',
  'Only with `files=all`: how many files it lists at any depth below the folder.':
    'Nur mit `files=all`: wie viele Dateien es in dem Ordner in jeder Tiefe aufführt.',
  'Bytes; absent where they are not known.': 'Byte; fehlt, wo die Größe nicht bekannt ist.',
  'The files that coding agents read before any skill.': 'Die Dateien, die Coding-Agenten vor jedem Skill lesen.',
  'Of the mounted folder: `AGENTS.md`, `CLAUDE.md`, `GEMINI.md`, `.github/copilot-instructions.md`, in this order.':
    'Im Ordner der Adresse: `AGENTS.md`, `CLAUDE.md`, `GEMINI.md`, `.github/copilot-instructions.md`, in dieser Reihenfolge.',
  'How many files of these names lie deeper below the mounted folder.':
    'Wie viele Dateien mit diesen Namen tiefer im Ordner der Adresse liegen.',
  'An estimate; present where agents get the text.': 'Geschätzt; vorhanden, wo Agenten den Text erhalten.',
  'Where a symbolic link leads, as `browse` tells it.': 'Wohin ein symbolischer Link führt, wie `browse` es sagt.',
  'Agents get its text.': 'Agenten erhalten den Text.',
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
  'Exact canonical path of a `SKILL.md`. Default: what the mount lists.':
    'Genauer kanonischer Pfad einer `SKILL.md`. Vorgabe: was die Adresse aufführt.',
  'The `SKILL.md`, or the mounted folder.': 'Die `SKILL.md`, oder der Ordner der Adresse.',
  'One text file, page by page': 'Eine Textdatei, Seite für Seite',
  '`null` on the last page.': '`null` auf der letzten Seite.',
  'Bytes of the whole file.': 'Byte der ganzen Datei.',
  'Of the bytes of the whole file.': 'Der Bytes der ganzen Datei.',
  'Canonical path of a file inside the mount.': 'Kanonischer Pfad einer Datei innerhalb der Adresse.',
  'Characters before the page.': 'Zeichen vor der Seite.',
  'Characters on the page at most.': 'Zeichen, die die Seite höchstens hat.',
  'What an agent reads differently than at another commit': 'Was ein Agent anders liest als bei einem anderen Commit',
  'The old side: a branch, a tag, `refs/heads/…`, `refs/tags/…` or a full commit. The address names the new side.':
    'Die alte Seite: ein Branch, ein Tag, `refs/heads/…`, `refs/tags/…` oder ein vollständiger Commit. Die Adresse nennt die neue Seite.',
  'Exact canonical path of a `SKILL.md`, on the new side or, where no skill lies there, on the old one: answers with the difference of its texts. Not together with `path` or `limit`.':
    'Genauer kanonischer Pfad einer `SKILL.md`, auf der neuen Seite oder, wo dort kein Skill liegt, auf der alten: Die Antwort ist der Unterschied seiner Texte. Nicht zusammen mit `path` oder `limit`.',
  'Items on a page at most; default: 50.': 'Einträge, die eine Seite höchstens hat; Standard: 50.',
  'A manifest, an include, a file of the skill, its `SKILL.md`, or the source of its license.':
    'Ein Manifest, eine Einbindung, eine Datei des Skills, seine `SKILL.md` oder die Quelle seiner Lizenz.',
  'Characters that a reader does not see, as many as there are more than before.':
    'Zeichen, die ein Leser nicht sieht, so viele, wie es mehr sind als vorher.',
  'Hosts of http(s) links that no text of the old commit links to.':
    'Hosts von http(s)-Links, auf die kein Text des alten Commits verweist.',
  'The line of the file where it occurs first.': 'Die Zeile der Datei, in der es zuerst vorkommt.',
  'The description of a skill, which decides when agents use it.':
    'Die Beschreibung eines Skills, nach der Agenten entscheiden, wann sie ihn verwenden.',
  'Commands that download and run, install, change rights, remove, decode or reach another machine, and that no text of the item held before; as written, at most 200 characters.':
    'Befehle, die etwas herunterladen und ausführen, installieren, Rechte ändern, löschen, dekodieren oder einen anderen Rechner erreichen und die vorher in keinem Text des Eintrags standen; wie sie geschrieben sind, mit höchstens 200 Zeichen.',
  'Skills and documents of the new side whose texts are not compared, since their license permits only a description.':
    'Skills und Dokumente der neuen Seite, deren Texte nicht verglichen werden, da ihre Lizenz nur eine Beschreibung erlaubt.',
  'Lists that a limit cuts: there may be more facts of these kinds.':
    'Listen, die eine Grenze kürzt: Von diesen Arten kann es mehr Tatsachen geben.',
  'The file of a manifest; its values are `null` when `files` refuses it.':
    'Die Datei eines Manifests; ihre Werte sind `null`, wenn `files` sie nicht ausliefert.',
  'Files that were not there before, or not executable.': 'Dateien, die es vorher nicht gab oder die nicht ausführbar waren.',
  'What a reviewer looks for, of the new side; a key stands only where there is something.':
    'Worauf bei einer Durchsicht zu achten ist, von der neuen Seite; ein Schlüssel steht nur da, wo es etwas gibt.',
  'As `skills` says it; `null` when something is missing, or only a description is served.':
    'Wie bei `skills`; `null`, wenn etwas fehlt oder nur eine Beschreibung ausgeliefert wird.',
  'The file of a document; the numbers are `null` when it is not served.':
    'Die Datei eines Dokuments; die Zahlen sind `null`, wenn sie nicht ausgeliefert wird.',
  'The old path; present when it moved.': 'Der alte Pfad; vorhanden, wenn es umgezogen ist.',
  'Those that changed; empty when it was added or removed.': 'Die Teile, die sich änderten; leer, wenn er hinzukam oder wegfiel.',
  'By part, then path.': 'Nach Teil, dann nach Pfad.',
  'Skill items of the whole comparison whose causes name it.':
    'Einträge von Skills im ganzen Vergleich, deren Ursachen es nennen.',
  'Of the whole comparison, the same on every page.': 'Des ganzen Vergleichs, auf jeder Seite gleich.',
  'By path, a moved one by its new path; then by kind.': 'Nach Pfad, ein umgezogener nach seinem neuen; dann nach Art.',
  'Of the new side.': 'Von der neuen Seite.',
  'A text as it is delivered.': 'Ein Text, wie er ausgeliefert wird.',
  'A piece of the unified difference, without file headers: three lines of context, and lines that end at `\\n` only.':
    'Ein Stück des vereinten Unterschieds, ohne Kopfzeilen der Dateien: drei Zeilen Umgebung, und Zeilen enden nur bei `\\n`.',
  'Which piece of the difference of this text it is.': 'Welches Stück des Unterschieds dieses Textes es ist.',
  'The texts in order of delivery of the new side, then the removed ones. At most 16 KiB of differences on a page.':
    'Die Texte in der Reihenfolge der Auslieferung der neuen Seite, dann die weggefallenen. Höchstens 16 KiB an Unterschieden auf einer Seite.',
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
  'Examples that the operator shows, with their media': 'Beispiele, die der Betreiber zeigt, mit ihren Medien',
  'Path below `/media/`, named by the SHA-256 of the file.': 'Pfad unter `/media/`, benannt nach dem SHA-256 der Datei.',
  'Media type, by the bytes of the file.': 'Medientyp, nach den Bytes der Datei.',
  'Words of the link to the address.': 'Worte des Links zur Adresse.',
  'What a visitor needs for it.': 'Was ein Besucher dafür braucht.',
  'What the clip shows, in words.': 'Was der Clip zeigt, in Worten.',
  'The example conversation.': 'Das Beispielgespräch.',
  'Canonical form of the address as the operator wrote it.':
    'Kanonische Form der Adresse, wie der Betreiber sie geschrieben hat.',
  'Pixels of the clip, or of the poster where there is no clip.': 'Pixel des Clips, oder des Posters, wo es keinen Clip gibt.',
  'Of the clip; `null` without one.': 'Des Clips; `null` ohne einen.',
  'When the clip was published; `null` without a clip.': 'Wann der Clip veröffentlicht wurde; `null` ohne Clip.',
  'In order of their positions.': 'In der Reihenfolge ihrer Positionen.',
  'The terms or the privacy page of the deployment': 'Die Nutzungsbedingungen oder die Datenschutzseite der Installation',
  'The latest revision of any language.': 'Die letzte Änderung in irgendeiner Sprache.',
  'Markdown.': 'Markdown.',
  'Who is signed in': 'Wer angemeldet ist',
  '`null` when nobody is signed in.': '`null`, wenn niemand angemeldet ist.',
  'The repositories that a person and the app of the host reach, by installation':
    'Die Repositorys, die eine Person und die App des Hosts erreichen, nach Installation',
  "The host's page on which an account installs the app.": 'Seite des Hosts, auf der ein Konto die App installiert.',
  "The host's page on which the installation is changed.": 'Seite des Hosts, auf der die Installation geändert wird.',
  'More repositories exist; they are opened by their addresses.':
    'Es gibt weitere Repositorys; sie werden über ihre Adressen geöffnet.',
  'More installations exist.': 'Es gibt weitere Installationen.',
  'The apps that read on behalf of a person': 'Die Apps, die im Namen einer Person lesen',
  'The app, in its own words: nobody checked them.': 'Die App in ihren eigenen Worten: Niemand hat sie geprüft.',
  'The repository that the app reads.': 'Das Repository, das die App liest.',
  'Newest first.': 'Das Neueste zuerst.',
  'End a grant with all its tokens, at once': 'Eine Freigabe mit allen ihren Tokens sofort beenden',
  'The agent tokens of a person, without their secrets': 'Die Agenten-Tokens einer Person, ohne ihre Geheimnisse',
  'The repository that the token reads.': 'Das Repository, das das Token liest.',
  'At most one hour old; `null` before the first use.': 'Höchstens eine Stunde alt; `null` vor der ersten Verwendung.',
  'Newest first. Tokens that expired are left out.': 'Das neueste zuerst. Abgelaufene Tokens fehlen.',
  'Tokens that one person may hold.': 'Wie viele Tokens eine Person haben darf.',
  'Make an agent token that reads one private repository': 'Ein Agenten-Token anlegen, das ein privates Repository liest',
  'The secret. It is answered this once only.': 'Das Geheimnis. Es wird nur dieses eine Mal gesendet.',
  'End an agent token, at once': 'Ein Agenten-Token sofort beenden',
  '`/gh/<owner>/<repository>`, without ref and path.': '`/gh/<owner>/<repository>`, ohne Ref und Pfad.',
  '1 to 60 characters, without control characters.': '1 bis 60 Zeichen, ohne Steuerzeichen.',
  'What an app asks a person to approve': 'Wozu eine App die Zustimmung einer Person erbittet',
  'Approve or refuse what an app asks for': 'Dem zustimmen oder das ablehnen, worum eine App bittet',
  'The sealed authorization request, as the consent page received it.':
    'Die versiegelte Autorisierungsanfrage, wie die Zustimmungsseite sie erhalten hat.',
  'The app. Name and URI are its own words: nobody checked them.':
    'Die App. Name und URI sind ihre eigenen Worte: Niemand hat sie geprüft.',
  'Host of the web address to which the browser goes next, or the scheme of an application.':
    'Host der Webadresse, zu der der Browser als Nächstes geht, oder das Schema einer Anwendung.',
  "The client is an app on the person's own computer.": 'Der Client ist eine App auf dem eigenen Computer der Person.',
  'The repository that the app wants to read.': 'Das Repository, das die App lesen möchte.',
  'Scopes, separated by spaces.': 'Scopes, durch Leerzeichen getrennt.',
  'Whether the person can see the repository now; `null` when nobody is signed in, or the host cannot be asked. `false` for one that does not exist.':
    'Ob die Person das Repository jetzt sehen kann; `null`, wenn niemand angemeldet ist oder der Host nicht gefragt werden kann. `false` für eines, das es nicht gibt.',
  "The host's page on which an account installs the app of this deployment.":
    'Seite des Hosts, auf der ein Konto die App dieses Dienstes installiert.',
  'Where the browser goes next.': 'Wohin der Browser als Nächstes geht.',
  'A page on the web, an app on the computer of the person, or the link of an application that is installed there.':
    'Eine Seite im Web, eine App auf dem Rechner der Person, oder der Link eines Programms, das dort installiert ist.',
  'Byte-identical copies of the skill in the mount, at most 5; absent when there is none.':
    'Byteweise gleiche Kopien des Skills im Mount, höchstens 5; fehlt, wenn es keine gibt.',
  'How many further copies there are.': 'Wie viele weitere Kopien es gibt.',
}
