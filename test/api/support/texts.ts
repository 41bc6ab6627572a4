import licenses from 'spdx-license-list/full.js'

/** The text of the MIT license, as a repository holds it: with it everything is served in full. */
export const MIT = (licenses.MIT?.licenseText ?? '').replace('<year>', '2026').replace('<copyright holders>', 'The authors')

/** A `SKILL.md` with valid front matter. */
export function skillText(name: string, body = `Body of ${name}.\n`, frontMatter = ''): string {
  return `---\nname: ${name}\ndescription: What ${name} does.\n${frontMatter}---\n${body}`
}
