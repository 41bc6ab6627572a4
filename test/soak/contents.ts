import { MIT, skillText } from '../api/support/texts.ts'
import { createRandom } from '../support/random.ts'
import type { TestFile } from '../support/repository.ts'

const WORDS = (
  'agent answer branch cache change check clock commit context cursor deploy document error example file folder garden gate ' +
  'header hook index issue job key language lease library license limit list manifest merge message mount name network note page path ' +
  'pattern pipeline policy question queue range read record reference release repository request review rule sample schema search section ' +
  'service setting shard signal skill snapshot store summary table term test text time token tree trial value version visitor word worker'
).split(' ')

/**
 * The files of a repository with all that visitors meet: rules in two folders, skills of one page and of several, pages that belong to skills,
 * documents, what is excluded, what is no text, and for some no license. The same for the same number and version; a version changes a few.
 */
export function contentsOf(number: number, version: number): Record<string, TestFile> {
  const words = (count: number, ...seed: (string | number)[]) => {
    const random = createRandom(number, ...seed)
    const pick = () => WORDS[Math.floor(random() * WORDS.length)]
    return Array.from({ length: count }, (_, index) => `${pick()}${index % 14 === 13 ? '.\n' : ''}`).join(' ')
  }
  const files: Record<string, TestFile> = {
    'README.md': `# Repository ${number}\n\n${words(60, 'readme', version)}\n`,
    'SKILLSET.md': `---\nname: Set ${number}\ndescription: ${words(8, 'set')}\n---\n${words(200, 'rules')}\n`,
    'skills/SKILLSET.md': `---\nname: Skills ${number}\nexclude: [drafts/]\n---\n${words(80, 'more rules')}\n`,
    'skills/drafts/SKILL.md': skillText('draft', 'Not to be read.\n'),
    'docs/picture.bin': Uint8Array.from([0, 159, 146, 150, number % 256]),
    'docs/ja.md': `# 庭 ${number}\n\n庭に水をやる。毎日、朝に。\n`,
    'CHANGES.md': `# Version ${version}\n\n${words(40, 'changes', version)}\n`,
  }
  if (number % 4 !== 3) files.LICENSE = MIT
  for (let skill = 0; skill < 3 + (number % 4); skill++) {
    const folder = `skills/skill-${skill}`
    const links = `See [the notes](references/notes.md) and [a document](/docs/page-${skill}.md).\n`
    files[`${folder}/SKILL.md`] = skillText(`skill-${skill}`, `${words(skill === 0 ? 6_000 : 150, 'skill', skill)}\n${links}`)
    files[`${folder}/references/notes.md`] = `# Notes ${skill}\n\n${words(120, 'notes', skill)}\n`
  }
  for (let page = 0; page < 4 + (number % 5); page++) {
    files[`docs/page-${page}.md`] =
      `# Page ${page} of ${number}\n\n${words(200, 'page', page)}\n\nNext: [page](page-${page + 1}.md)\n`
  }
  return files
}
