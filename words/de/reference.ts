import type { Words } from '../en/en.ts'

/** The reference of the REST interface. */
export const REFERENCE: Words['reference'] = {
  title: 'REST-Referenz',
  about:
    'Alle Routen antworten unter `/api/v1` mit JSON, mit `cache-control: no-store`. Routen unter `/me` sind für eine Person, die durch das Cookie der Seiten angemeldet ist; was etwas ändert, muss von diesen Seiten kommen. Wo sich niemand anmeldet, gibt es sie nicht. `GET /api/v1/openapi.json` ist dasselbe als OpenAPI-3.1-Dokument. `{address}`, `{owner}`, `{kind}` und `{id}` sind prozentkodiert.',
  examples:
    'Antworten an Beispielen stehen auf der Seite [Antworten](/docs/answers), und was bei einem Code zu tun ist, auf der Seite [Fehler](/docs/errors).',
  common: 'Jede Route kann auch mit {codes} antworten.',
  ofAddresses: 'Jede Route mit `{address}` kann auch mit {codes} antworten.',
  routes: 'Routen',
  errorsOfAll: 'Fehler aller Routen',
  route: 'Route',
  integer: 'Ganzzahl von {min} bis {max}',
  takes: 'Nimmt {type} als JSON.',
  answers: 'Antwortet mit {type}.',
  answersNothing: 'Antwortet mit 204, ohne Body.',
  errors: 'Fehler: {codes}.',
  shapes: 'Formen',
  oneOf: 'Eine von {types}.',
  a: 'Ein Wert der Art {type}.',
  parameter: 'Parameter',
  field: 'Feld',
  type: 'Art',
  meaning: 'Bedeutung',
  optional: 'kann fehlen',
  default: 'Standard {value}',
  or: 'oder',
  listOf: 'Liste von {type}',
  mapOf: 'Zuordnung zu {type}',
}
