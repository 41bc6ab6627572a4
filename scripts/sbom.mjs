/** The bill of materials of a package, in the format of CycloneDX. */
import { createHash } from 'node:crypto'

/**
 * @typedef {{ name: string, version: string, license: string, folder: string }} Component `folder` in `node_modules`, as the lock file spells it
 * @typedef {{ hash: string, time: string }} Commit `time` in ISO 8601
 */

/**
 * The same commit gives the same text.
 *
 * @param {{ name: string, version: string, license: string }} manifest of the package
 * @param {Commit} commit
 * @param {readonly Component[]} components what the package contains, and its direct dependencies, without what those depend on
 * @param {{ packages: Record<string, { integrity?: string }> }} lock
 */
export function formatSbom(manifest, commit, components, lock) {
  const ref = purlOf(manifest)
  const bom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(`${manifest.name} ${commit.hash}`)}`,
    version: 1,
    metadata: {
      timestamp: commit.time,
      component: {
        'bom-ref': ref,
        type: 'application',
        ...describe(manifest),
        properties: [{ name: 'mountglass:commit', value: commit.hash }],
      },
    },
    components: components.map(one => ({
      'bom-ref': refOf(one),
      type: 'library',
      ...describe(one),
      ...hashesOf(lock.packages[one.folder]?.integrity),
    })),
    dependencies: [{ ref, dependsOn: components.map(refOf) }, ...components.map(one => ({ ref: refOf(one), dependsOn: [] }))],
  }
  return `${JSON.stringify(bom, null, 2)}\n`
}

/** @param {{ name: string, version: string, license: string }} manifest */
function describe({ name, version, license }) {
  const [, group, own = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? []
  return {
    ...(group && { group }),
    name: own,
    version,
    licenses: [/[ (]/.test(license) ? { expression: license.replace(/^\((.*)\)$/, '$1') } : { license: { id: license } }],
    purl: purlOf({ name, version }),
  }
}

/** Several copies of a package, in several folders, may have one version. @param {Component} one */
function refOf(one) {
  return `${purlOf(one)}#${one.folder}`
}

/** @param {{ name: string, version: string }} one */
function purlOf({ name, version }) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

/** @param {string | undefined} integrity as in the lock file */
function hashesOf(integrity) {
  const [, digest] = /^sha512-(\S+)$/.exec(integrity ?? '') ?? []
  return digest === undefined ? {} : { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }
}

/** A UUID of version 8, which leaves its bits to its maker. @param {string} text */
function uuidOf(text) {
  const digits = [...createHash('sha256').update(text).digest('hex').slice(0, 32)]
  digits[12] = '8'
  digits[16] = 'a'
  return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
