/** What the codes of the API say, without a full stop; where trying again helps, as the last clause. */
export const ERRORS: Readonly<Record<string, string>> = {
  'address.invalid_escape':
    'die Adresse enthält eine Prozent-Kodierung, die fehlerhaft oder kein UTF-8 ist; kodieren Sie jedes Segment als UTF-8',
  'address.unknown_host': 'ihr erster Teil nennt keinen Git-Host dieses Servers',
  'address.incomplete': 'die Adresse ist unvollständig; sie braucht die Form /<Host>/<Konto>/<Repository>',
  'address.invalid_owner': 'der Name des Kontos ist beim Host nicht möglich; prüfen Sie die Schreibweise',
  'address.invalid_repository': 'der Name des Repositorys ist beim Host nicht möglich; prüfen Sie die Schreibweise',
  'address.invalid_ref': 'der Text nach @ ist kein Name eines Branches, Tags oder Commits; prüfen Sie die Schreibweise',
  'address.invalid_path':
    'der Pfad enthält ein leeres Segment, . oder .., einen Rückstrich oder ein Steuerzeichen; verwenden Sie einen kanonischen Pfad',
  'address.too_long': 'die Adresse ist länger als 2.048 Byte oder 64 Segmente; kürzen Sie sie',
  'request.invalid': 'der Link ist falsch oder nicht mehr richtig; beginnen Sie auf der ersten Seite',
  'request.not_found': 'diese Route gibt es nicht; /api/v1/openapi.json führt die Routen der API auf',
  'request.method_not_allowed': 'diese Route kennt die Methode nicht; der Header allow nennt die möglichen',
  'request.timeout': 'die Anfrage kam nicht rechtzeitig an; senden Sie sie ohne Pausen noch einmal',
  'request.too_large': 'der Body der Anfrage ist zu groß',
  'request.encoded': 'der Body hat ein content-encoding; senden Sie ihn ohne',
  'request.headers_too_large': 'die Header der Anfrage sind zu groß; senden Sie weniger oder kürzere',
  'mount.repo_not_found': 'das Repository gibt es nicht, oder Sie dürfen es nicht sehen; prüfen Sie Konto und Namen',
  'mount.ref_not_found': 'hier heißt nichts so',
  'mount.ref_not_found:shortened': 'ist es der Anfang eines Commit-Hashes, geben Sie mehr Ziffern an, oder alle 40',
  'mount.ref_not_found:slash':
    'das Repository hat einen Branch oder ein Tag dieses Namens mit einem Schrägstrich; schreiben Sie ihn als %2F, etwa @feature%2Fx',
  'mount.ref_not_found:default':
    'das Repository nennt ihn als Standardbranch, hat aber keinen solchen Branch; öffnen Sie einen der anderen',
  'mount.ref_not_found:tags': 'das Repository hat Tags und keinen Branch; öffnen Sie eines seiner Tags',
  'mount.path_not_found': 'hier gibt es nichts zu lesen: Entweder ist hier nichts, oder SKILLSET.md lässt es weg',
  'mount.not_allowed': 'dieser Server zeigt dieses Repository nicht; sein Betreiber entscheidet, welche er zeigt',
  'mount.not_allowed:sha256':
    'das Repository benennt seine Objekte mit SHA-256; gezeigt werden nur Repositorys des Objektformats SHA-1',
  'mount.rate_limited': 'der Git-Host begrenzt die Zahl der Anfragen; später erneut versuchen',
  'mount.ref_not_found:empty': 'dieses Repository hat noch keine Commits',
  'mount.unavailable:damaged': 'dieses Repository ist beschädigt; sein Betreiber findet die Ursache im Protokoll',
  'mount.unavailable': 'der Git-Host ist nicht erreichbar; später erneut versuchen',
  'skill.not_found': 'hier gibt es nichts zu laden: Entweder ist hier nichts, oder SKILLSET.md lässt es weg',
  'skill.ambiguous': 'mehrere Skills passen; wählen Sie einen der Ordner',
  'skill.unavailable': 'der indexierte Inhalt lässt sich gerade nicht lesen; später erneut versuchen',
  'index.indexing': 'das Repository wird gerade indexiert; später erneut versuchen',
  'index.failed': 'das Repository konnte nicht indexiert werden; später erneut versuchen',
  'file.not_found': 'hier gibt es nichts zu lesen: Entweder ist hier nichts, oder SKILLSET.md lässt es weg',
  'file.not_found:there': 'die Datei liegt im Repository, und Agenten bekommen sie nicht',
  'file.not_found:there_kept':
    'die Datei liegt im Repository, und Agenten bekommen sie nicht; ihre Lizenz erlaubt keine Kopien, deshalb hält auch dieser Server das Original zurück',
  'file.not_found:link': 'das ist ein symbolischer Link, und er führt zu keiner Datei, die Agenten bekommen',
  'file.not_found:link_kept':
    'das ist ein symbolischer Link, und er führt zu keiner Datei, die Agenten bekommen; auch dieser Server hält das Original zurück',
  'file.not_found:submodule': 'das ist ein Submodul: ein anderes Repository, aus dem hier nichts gelesen oder gesendet wird',
  'file.not_served:kept':
    'keine Lizenz erlaubt Kopien der Datei, und auch dieser Server hält das Original zurück; fragen Sie den Eigentümer des Repositorys',
  'file.not_served': 'die Lizenz der Datei erlaubt keine Kopien; lesen Sie sie bei ihrem Git-Host',
  'file.too_large': 'die Datei ist größer als 1.048.576 Byte; lesen Sie sie bei ihrem Git-Host',
  'file.not_text': 'die Datei ist kein UTF-8-Text; lesen Sie sie bei ihrem Git-Host',
  'file.too_large:raw':
    'die Datei ist größer als 104.857.600 Byte; mehr wird als Rohdatei nicht gesendet. Lesen Sie sie in einem Klon des Repositorys',
  'file.not_text:lfs':
    'der Text liegt in Git LFS: Das Repository enthält nur einen Zeiger darauf; lesen Sie ihn bei seinem Git-Host',
  'owner.invalid': 'der Pfad nennt kein Konto; er braucht die Form /gh/<Konto>',
  'legal.not_found': 'dieser Server hat keine solche Seite; die Arten sind terms und privacy',
  'owner.not_found': 'das Konto gibt es beim Git-Host nicht; prüfen Sie den Namen',
  'auth.required':
    'niemand ist angemeldet, oder das Token gilt hierfür nicht; melden Sie sich an, oder senden Sie ein gültiges Token',
  'auth.forbidden_origin': 'nur Seiten dieses Servers dürfen diese Anfrage senden; verwenden Sie ihre Seiten',
  'auth.unavailable': 'wer angemeldet ist, lässt sich gerade nicht nachsehen; später erneut versuchen',
  'token.invalid':
    'die Angaben sind kein Repository von GitHub, keine Bezeichnung aus 1 bis 60 Zeichen oder keine Dauer von 1 bis 366 Tagen',
  'token.not_a_repository': 'ein Token liest ein ganzes Repository; lassen Sie Version und Pfad der Adresse weg',
  'token.public_repository': 'jeder darf dieses Repository lesen; es braucht kein Token',
  'token.limit': 'eine Person hat höchstens 50 Tokens; löschen Sie eines, das nicht mehr verwendet wird',
  'token.not_found': 'Sie haben kein solches Token; vielleicht ist es gelöscht oder abgelaufen',
  'grant.not_found': 'Sie haben keine solche App; vielleicht ist ihr Zugriff schon beendet',
  'oauth.invalid_request': 'die Anfrage der App ist fehlerhaft oder abgelaufen; beginnen Sie in der App von vorn',
  'oauth.not_visible':
    'Sie können dieses Repository nicht öffnen und deshalb keine App es lesen lassen; prüfen Sie seine Adresse',
  'hook.forged': 'die Signatur der Nachricht fehlt oder ist falsch; prüfen Sie das Geheimnis des Webhooks',
  'hook.busy': 'die Nachricht kam langsamer an als andere, die ihren Speicher brauchten; senden Sie sie noch einmal',
  'service.internal':
    'ein interner Fehler ist aufgetreten; versuchen Sie es erneut, und melden Sie die Kennung der Anfrage, wenn er bleibt',
  // Where the page says how long to wait.
  'mount.rate_limited:wait': 'der Git-Host begrenzt die Zahl der Anfragen',
  'mount.unavailable:wait': 'der Git-Host ist nicht erreichbar',
  'skill.unavailable:wait': 'der indexierte Inhalt lässt sich gerade nicht lesen',
  'index.indexing:wait': 'das Repository wird gerade indexiert',
  'index.failed:wait': 'das Repository konnte nicht indexiert werden',
  'auth.unavailable:wait': 'wer angemeldet ist, lässt sich gerade nicht nachsehen',
}
