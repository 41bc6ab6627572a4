/** The reference of the REST interface. */
export const REFERENCE = {
  title: 'REST reference',
  about:
    'All routes answer JSON below `/api/v1`, to everyone, with `cache-control: no-store`. `GET /api/v1/openapi.json` is the same as an OpenAPI 3.1 document. `{address}`, `{owner}` and `{kind}` are percent-encoded.',
  common: 'Every route may also answer {codes}.',
  answers: 'Answers {type}.',
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
