/** How sources become bundles, for the package and for the Action: the options of esbuild, and the packages inside with their licenses. */
import { readdir, readFile } from 'node:fs/promises'
import { join, sep } from 'node:path'

/** @type {import('esbuild').BuildOptions & { metafile: true, write: false }} */
export const BUNDLE = {
  bundle: true,
  write: false,
  metafile: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  // Bundled CommonJS packages call `require` for modules of Node.
  banner: { js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);" },
}

/**
 * A package with code or files in a bundle.
 *
 * @typedef {{ name: string, version: string, license: string, folder: string, text: string }} ThirdParty
 */

/**
 * The packages that modules belong to, by folder.
 *
 * @param {string} root the checkout
 * @param {Iterable<string>} paths of modules or folders below the checkout; those outside of `node_modules` belong to no package
 * @returns {Promise<ThirdParty[]>}
 * @throws Error for a package without a license text
 */
export async function readPackages(root, paths) {
  const folders = new Set(
    [...paths].flatMap(path => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path.split(sep).join('/'))?.[0] ?? []),
  )
  return await Promise.all([...folders].sort().map(folder => readPackage(root, folder)))
}

/** @param {string} root @param {string} folder @returns {Promise<ThirdParty>} */
async function readPackage(root, folder) {
  const { name, version, license } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'))
  const texts = await Promise.all((await listLicenses(join(root, folder))).map(path => readFile(path, 'utf8')))
  if (texts.length === 0) texts.push((await readSection(join(root, folder))) ?? (await readStandardText(root, name)))
  return { name, version, license, folder, text: texts.map(text => text.trim()).join('\n\n') }
}

/** @param {string} folder @returns {Promise<string[]>} */
async function listLicenses(folder) {
  const entries = (await readdir(folder, { withFileTypes: true })).filter(({ name }) => LICENSE_FILE.test(name))
  // In few packages LICENSE is a folder.
  const paths = entries.map(entry => (entry.isFile() ? [join(folder, entry.name)] : listLicenses(join(folder, entry.name))))
  return (await Promise.all(paths)).flat().sort()
}

const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[-.][\w.-]*)?$/i

/** The section of a README with the whole text of a license. @param {string} folder */
async function readSection(folder) {
  const text = await readFile(join(folder, 'README.md'), 'utf8').catch(() => '')
  return /^#+ licen[cs]e\n(.*Permission is hereby granted.*)$/ims.exec(text)?.[1] ?? null
}

/**
 * Packages without a license text: which standard text is theirs, and whose copyright a text names that is the holder's own. Another such package
 * is looked at before it is added here.
 *
 * @type {Record<string, { license: string, holder?: string }>}
 */
const STANDARD_TEXTS = {
  '@aws-sdk/credential-provider-http': { license: 'Apache-2.0' },
  '@aws-sdk/credential-provider-login': { license: 'Apache-2.0' },
  '@aws-sdk/nested-clients': { license: 'Apache-2.0' },
  '@takumi-rs/helpers': { license: 'Apache-2.0' },
  'abstract-logging': { license: 'MIT', holder: '(c) James Sumners' },
  // A fork of picocolors, which names them.
  piccolore: { license: 'ISC', holder: '(c) 2021-2024 Oleksii Raspopov, Kostiantyn Denysov, Anton Verinov' },
  'spdx-exceptions': { license: 'CC-BY-3.0' },
  'spdx-license-ids': { license: 'CC0-1.0' },
}

/** @param {string} root @param {string} name */
async function readStandardText(root, name) {
  const standard = STANDARD_TEXTS[name]
  if (standard === undefined) throw new Error(`${name} contains no license text: see STANDARD_TEXTS in scripts/bundle.mjs`)
  const { license, holder } = standard
  const path = join(root, 'node_modules', 'spdx-license-list', 'licenses', `${license}.json`)
  /** @type {{ licenseText: string }} */
  const { licenseText } = JSON.parse(await readFile(path, 'utf8'))
  return holder === undefined ? licenseText : licenseText.replace(/(?:^Copyright .*\n)+/m, `Copyright ${holder}\n`)
}

/**
 * The license texts of packages, one after another.
 *
 * @param {readonly ThirdParty[]} packages
 */
export function joinLicenses(packages) {
  const parts = packages.map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text}\n`)
  return parts.join(`\n${'-'.repeat(80)}\n\n`)
}
