import type { Translation } from '../en/en.ts'
import type { PEOPLE as EN_PEOPLE } from '../en/people.ts'

/** Signing in, the account of a person, and what apps ask them. */
export const PEOPLE: Translation<typeof EN_PEOPLE> = {
  visitor: {
    signIn: 'Anmelden',
    signInWith: 'Mit GitHub anmelden',
    signOut: 'Abmelden',
    account: 'Ihr Konto: {login}',
    signedInAs: 'Angemeldet als {login}',
    offer: 'Ein privates Repository wird Personen gezeigt, die es auf GitHub sehen dürfen: [anmelden](signIn).',
    reach:
      'Ein privates Repository wird gezeigt, wenn {login} es auf GitHub sehen darf und die GitHub-App in seinem Konto installiert ist: [Ihre Repositorys](account).',
    privateAbout: 'Nur wer dieses Repository auf GitHub sehen darf, kann diese Seite öffnen.',
    privateUse:
      'Dieses Repository ist privat. Ein Client, der einen Browser öffnet, bittet Sie um Zustimmung; jeder andere, auch `curl`, braucht ein [Agenten-Token](tokens) im Header `Authorization: Bearer`.',
    privateUseLocal:
      'Dieses Repository ist privat. Jeder Client braucht ein Agenten-Token im Header `Authorization: Bearer`; der Betreiber erstellt es mit `mountglass token create`.',
  },
  account: {
    title: 'Ihr Konto',
    parts: 'Teile dieser Seite',
    signedOut: 'Melden Sie sich an, um Ihr Konto zu sehen',
    signedOutAbout:
      'Es zeigt die Repositorys, die Sie erreichen, Ihre Agenten-Tokens, die Apps, die in Ihrem Namen lesen, und Ihre Sitzungen.',
    unavailable: 'Das lässt sich gerade nicht anzeigen',
    refused: 'Nichts wurde geändert',
  },
  repositories: {
    title: 'Repositorys',
    about:
      'Diese Repositorys erreichen sowohl Sie als auch die GitHub-App dieses Servers. Öffentliche Repositorys öffnen sich ohne die App.',
    none: 'Die GitHub-App ist in keinem Konto installiert, das Sie erreichen. Um private Repositorys zu öffnen, installieren Sie die App in deren Konto.',
    install: 'GitHub-App in einem Konto installieren',
    all: 'alle Repositorys',
    selected: 'ausgewählte Repositorys',
    manage: 'Repositorys auf GitHub auswählen',
    empty: 'Die GitHub-App erreicht hier kein Repository.',
    cut: 'Die Liste endet hier, aber es gibt weitere. Sie öffnen sich über ihre Adressen.',
    cutInstallations: 'Die Liste enthält nur die ersten Konten. Repositorys anderer Konten öffnen sich über ihre Adressen.',
    token: 'Token erstellen',
    tokenFor: ' für {name}',
    more: '{n} weitere',
  },
  tokens: {
    title: 'Agenten-Tokens',
    about:
      'Mit einem Token liest ein Agent ein privates Repository über REST und MCP, ohne dass sich jemand anmeldet, zum Beispiel in der CI. Er liest nicht mehr, sobald Sie das Repository auf GitHub nicht mehr sehen dürfen.',
    make: 'Ein Token erstellen',
    repository: 'Privates Repository',
    repositoryHint: 'Seine Adresse ohne Version und Pfad: `/gh/owner/repository`',
    label: 'Bezeichnung',
    labelHint: 'Was das Token verwendet',
    expires: 'Läuft ab nach',
    submit: 'Token erstellen',
    created: 'Kopieren Sie jetzt Ihr neues Token',
    createdAbout: 'Es wird einmal gezeigt und nie wieder. Wer es hat, kann {address} bis zum {day} lesen.',
    theToken: 'das Token',
    theCommand: 'den Befehl',
    example: 'Zum Ausprobieren:',
    yours: 'Ihre Tokens',
    none: 'Sie haben keine Tokens.',
    full: 'Sie haben {limit} Tokens, so viele, wie eine Person haben darf. Löschen Sie eines, um ein neues zu erstellen.',
    held: '{n} von höchstens {limit}',
    made: 'erstellt {day}',
    ends: 'läuft ab {day}',
    used: 'zuletzt verwendet {instant}',
    unused: 'noch nicht verwendet',
    delete: 'Löschen …',
    deleteOf: ' ({label})',
    deleteAbout:
      'Agenten, die dieses Token verwenden, werden sofort abgewiesen. Das lässt sich nicht rückgängig machen: Ein neues Token hat ein anderes Geheimnis.',
    deleteNow: 'Token löschen',
    deleted: 'Das Token ist gelöscht',
    deletedAbout: 'Agenten, die es verwendet haben, werden von jetzt an abgewiesen.',
  },
  grants: {
    title: 'Apps',
    about: 'Diese Apps lesen ein Repository in Ihrem Namen. Namen und Seiten sind ihre eigenen Worte; niemand hat sie geprüft.',
    none: 'Keine App liest in Ihrem Namen. Eine App fragt Sie, wenn Sie sie mit der MCP-Adresse eines privaten Repositorys verbinden.',
    page: 'nennt {uri} als ihre Seite',
    approved: 'zugestimmt {day}',
    end: 'Zugriff beenden …',
    endOf: ' ({name})',
    endAbout: 'Die App wird sofort abgewiesen, auf jedem Gerät. Damit sie wieder lesen kann, stimmen Sie ihr erneut zu.',
    endNow: 'Zugriff beenden',
    ended: 'Der Zugriff ist beendet',
    endedAbout: 'Die App wird von jetzt an abgewiesen, auf jedem Gerät.',
  },
  sessions: {
    title: 'Sitzungen',
    about:
      'In diesen Browsern sind Sie angemeldet. Eine Sitzung endet nach {idle} Tagen ohne Verwendung, und in jedem Fall nach {days} Tagen.',
    current: 'dieser Browser',
    browser: '{name} unter {system}',
    unknown: 'Ein Browser',
    begun: 'Angemeldet {instant},',
    seen: 'zuletzt verwendet {instant}',
    end: 'Beenden',
    endOf: ' (Sitzung von {name}, {instant})',
    endOthers: 'Alle anderen Sitzungen beenden',
    everywhere: 'Überall abmelden',
    everywhereAbout: 'Tokens und Apps behalten ihren Zugriff.',
    ended: 'Die Sitzung ist beendet',
    endedAbout: 'Jener Browser ist abgemeldet.',
  },
  forget: {
    title: 'Mich vergessen',
    about:
      'Entfernt, was dieser Server über Sie speichert: Ihren Namen, Ihre Sitzungen und Tokens und den Zugriff von Apps. Alles endet sofort, und der Server gibt seinen Zugriff auf Ihr GitHub-Konto auf.',
    start: 'Mich vergessen …',
    never: 'Das lässt sich nicht rückgängig machen.',
    confirm: 'Alle meine Sitzungen, Tokens und Apps beenden',
    submit: 'Mich vergessen',
  },
  consent: {
    title: 'Eine App ein Repository lesen lassen',
    question: 'Darf {client} {repository} lesen?',
    app: 'App',
    ownWords: 'Das sind die eigenen Worte der App; niemand hat sie geprüft.',
    page: 'Ihre Seite',
    next: 'Danach geht es zu',
    nextApp: '{host}, einer App auf diesem Gerät',
    nextLoopback: '{host}, einer App auf Ihrem eigenen Computer',
    cautionApp:
      'Stimmen Sie nur zu, wenn Sie dies gerade selbst begonnen haben: Jedes Programm auf Ihrem Computer kann so fragen.',
    cautionWeb:
      'Was die App liest, kann dorthin gelangen. Stimmen Sie nur zu, wenn Sie wissen, wem die Seite gehört, und gerade von ihr kommen.',
    repository: 'Repository',
    reads: 'Sie darf lesen',
    readsWhat:
      'Jede Datei, jeden Skill und jedes Dokument dieses Repositorys, in jedem Commit. Sie ändert nichts und liest kein anderes privates Repository.',
    time: 'Wie lange',
    timeIs: 'Bis Sie den Zugriff beenden, höchstens {days} Tage. Er endet auch nach {idle} Tagen ohne Verwendung.',
    who: 'Sie sind',
    visible: 'und können dieses Repository jetzt sehen',
    endHow: '[Ihr Konto](account) beendet den Zugriff sofort.',
    refuse: 'Ablehnen',
    approve: 'Zustimmen',
    decide: 'Anmelden, um zu entscheiden',
    decideAbout: 'Sie kehren zu dieser Seite zurück; mit der Anmeldung ist noch nichts genehmigt.',
    tooLong:
      'Diese Anfrage ist zu lang, um zu ihr zurückzukehren. Melden Sie sich an, und beginnen Sie dann in der App von vorn.',
    hidden: 'Sie können hier nicht zustimmen',
    hiddenAbout:
      '{login} kann dieses Repository hier nicht öffnen: Es existiert nicht, {login} darf es auf GitHub nicht sehen, oder die GitHub-App ist im Konto des Eigentümers nicht installiert.',
    install: 'GitHub-App im Konto des Eigentümers installieren',
    again: 'Erneut prüfen',
    unknown: 'GitHub antwortet gerade nicht',
    unknownAbout: 'Ob {login} dieses Repository sehen darf, lässt sich nicht sagen; darum können Sie noch nicht zustimmen.',
    expired: 'Diese Anfrage lässt sich nicht beantworten',
    expiredAbout:
      'Sie ist abgelaufen oder nicht so, wie die App sie gesendet hat. Eine Anfrage gilt 15 Minuten. Beginnen Sie in der App von vorn.',
  },
  failure: {
    titles: {
      'sign_in.failed': 'Sie sind nicht angemeldet',
      'sign_in.unavailable': 'GitHub antwortet gerade nicht',
      'forget.pending': 'Ihre Daten hier sind gelöscht',
      'auth.forbidden_origin': 'Dieses Formular wurde abgewiesen',
    },
    abouts: {
      'sign_in.failed':
        'Die Anmeldung wurde auf GitHub abgelehnt, dauerte länger als zehn Minuten, wurde schon verwendet oder in einem anderen Browser begonnen. Nichts wurde geändert.',
      'sign_in.unavailable':
        'Wer Sie sind, lässt sich nicht erfragen. Nichts wurde geändert. Versuchen Sie es in einer Minute erneut.',
      'forget.pending':
        'Ihre Sitzungen, Tokens und Apps sind beendet, und was über Sie gespeichert war, ist gelöscht. GitHub antwortet gerade nicht, darum besteht dort die Autorisierung dieser App noch: Dieser Server fragt einmal am Tag erneut, bis sie beendet ist. Sie können sie auch selbst auf GitHub beenden, in den Einstellungen unter Applications.',
      'auth.forbidden_origin':
        'Es wurde nicht von einer Seite dieses Servers gesendet, oder der Browser hat seine Herkunft nicht genannt. Nichts wurde geändert. Öffnen Sie die Seite, und senden Sie das Formular dort.',
    },
    title: 'Etwas ist schiefgegangen',
    home: '[Startseite öffnen](home)',
  },
  refusal: {
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
