/** The reference of the REST interface. */
export const REFERENCE = {
  title: 'REST reference',
  about:
    'All routes answer JSON below `/api/v1`, with `cache-control: no-store`. Routes below `/me` are for a person who is signed in by the cookie of the pages; what changes something has to come from these pages. Where nobody signs in, they do not exist. `GET /api/v1/openapi.json` is the same as an OpenAPI 3.1 document. `{address}`, `{owner}`, `{kind}` and `{id}` are percent-encoded.',
  examples:
    'Answers by example are on the page [Answers](/docs/answers), and what to do about a code on the page [Errors](/docs/errors).',
  common: 'Every route may also answer {codes}.',
  ofAddresses: 'Every route with `{address}` may also answer {codes}.',
  routes: 'Routes',
  route: 'Route',
  integer: 'integer from {min} to {max}',
  takes: 'Takes {type} as JSON.',
  answers: 'Answers {type}.',
  answersNothing: 'Answers 204, without a body.',
  errors: 'Errors: {codes}.',
  shapes: 'Shapes',
  oneOf: 'One of {types}.',
  a: 'A {type}.',
  parameter: 'Parameter',
  field: 'Field',
  type: 'Type',
  meaning: 'Meaning',
  optional: 'optional',
  default: 'default {value}',
  or: 'or',
  listOf: 'list of {type}',
  mapOf: 'map of {type}',
}
