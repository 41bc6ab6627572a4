/**
 * Makes `github.json` anew: the part of GitHub's own API description that the stand-in answers.
 *
 *   node test/support/fake-github/openapi/cut.mjs
 *
 * Installs @octokit/openapi (about 400 MB unpacked) into a temporary folder, never into the project. The cut holds the answers'
 * schemas of the operations below, as JSON Schema 2020-12, and the examples that the stand-in builds its bodies from.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PACKAGE = '@octokit/openapi'
const VERSION = '23.0.2'

const OPERATIONS = [
  'POST /app/installations/{installation_id}/access_tokens',
  'DELETE /applications/{client_id}/token',
  'DELETE /applications/{client_id}/grant',
  'GET /orgs/{org}',
  'GET /rate_limit',
  'GET /repos/{owner}/{repo}',
  'GET /repos/{owner}/{repo}/commits',
  'GET /repos/{owner}/{repo}/commits/{ref}',
  'GET /repos/{owner}/{repo}/compare/{basehead}',
  'GET /repos/{owner}/{repo}/git/trees/{tree_sha}',
  'GET /repos/{owner}/{repo}/installation',
  'GET /user',
  'GET /user/installations',
  'GET /user/installations/{installation_id}/repositories',
  'GET /user/repos',
  'GET /users/{username}',
  'GET /users/{username}/repos',
]

/** Name in the cut, and the example it is taken from: the long bodies. The stand-in writes the short ones itself. */
const EXAMPLES = {
  repository: 'full-repository-default-response',
  minimalRepositories: 'minimal-repository-items',
}

const WEBHOOKS = [
  'github-app-authorization-revoked',
  'installation-created',
  'installation-deleted',
  'installation-repositories-added',
  'installation-repositories-removed',
  'installation-suspend',
  'installation-unsuspend',
  'member-added',
  'member-removed',
  'organization-renamed',
  'public',
  'push',
  'repository-deleted',
  'repository-privatized',
  'repository-publicized',
  'repository-renamed',
]

const NOT_ABOUT_SHAPE = new Set(
  'description title example examples default externalDocs deprecated discriminator readOnly nullable'.split(' '),
)

const folder = mkdtempSync(join(tmpdir(), 'github-openapi-'))
try {
  const install = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', `${PACKAGE}@${VERSION}`]
  execFileSync('npm', install, { stdio: 'inherit' })
  const root = join(folder, 'node_modules', PACKAGE)
  /** @type {any} */
  const description = JSON.parse(readFileSync(join(root, 'generated/api.github.com.json'), 'utf8'))
  write('github.json', `${JSON.stringify(cut(description))}\n`)
  write('LICENSE', readFileSync(join(root, 'LICENSE'), 'utf8'))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** @param {string} name @param {string} text */
function write(name, text) {
  writeFileSync(new URL(name, import.meta.url), text)
}

/** @param {any} description */
function cut(description) {
  const operations = Object.fromEntries(OPERATIONS.map(operation => [operation, answersOf(description, operation)]))
  const webhooks = Object.fromEntries(WEBHOOKS.map(name => [name, webhookBody(description, name)]))
  const schemas = collect(description.components.schemas, [operations, webhooks, { $ref: '#/$defs/basic-error' }])
  const examples = Object.fromEntries(
    Object.entries(EXAMPLES).map(([name, source]) => [name, description.components.examples[source].value]),
  )
  return {
    source: { package: PACKAGE, version: VERSION, file: 'generated/api.github.com.json', license: 'MIT' },
    operations,
    webhooks,
    schemas,
    examples,
  }
}

/** The JSON schema of every status; `null` for an answer that is not JSON. @param {any} description @param {string} operation */
function answersOf(description, operation) {
  const [method = '', path = ''] = operation.split(' ')
  const { responses } = description.paths[path][method.toLowerCase()]
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const target = response.$ref ? description.components.responses[response.$ref.split('/').pop()] : response
      const schema = target.content?.['application/json']?.schema
      return [status, schema ? toJsonSchema(schema) : null]
    }),
  )
}

/** @param {any} description @param {string} name */
function webhookBody(description, name) {
  return toJsonSchema(description['x-webhooks'][name].post.requestBody.content['application/json'].schema)
}

/** The schemas that are reached from here. @param {any} all @param {unknown[]} from */
function collect(all, from) {
  /** @type {Record<string, any>} */
  const found = {}
  const open = from.flatMap(references)
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name in found) continue
    found[name] = toJsonSchema(all[name])
    open.push(...references(found[name]))
  }
  return Object.fromEntries(Object.entries(found).sort(([left], [right]) => (left < right ? -1 : 1)))
}

/** @param {unknown} value @returns {string[]} */
function references(value) {
  return [...JSON.stringify(value).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)].map(match => match[1] ?? '')
}

/** OpenAPI 3.0 says `nullable` where JSON Schema says `null`. @param {any} schema @returns {any} */
function toJsonSchema(schema) {
  const plain = Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => !NOT_ABOUT_SHAPE.has(key) && !key.startsWith('x-'))
      .map(([key, value]) => [key, convert(key, value)]),
  )
  if (!schema.nullable) return plain
  if (schema.type === undefined || schema.enum) return { anyOf: [{ type: 'null' }, plain] }
  return { ...plain, type: [schema.type, 'null'] }
}

/** @param {string} key @param {any} value @returns {any} */
function convert(key, value) {
  if (key === '$ref') return value.replace('#/components/schemas/', '#/$defs/')
  if (key === 'properties') return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toJsonSchema(inner)]))
  if (['allOf', 'anyOf', 'oneOf'].includes(key)) return value.map(toJsonSchema)
  if (['items', 'additionalProperties', 'not'].includes(key) && typeof value === 'object') return toJsonSchema(value)
  return value
}
