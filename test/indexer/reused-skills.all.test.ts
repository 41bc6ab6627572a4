import { expect, test } from 'vitest'
import { meaningOf } from '#test/support/snapshot-meaning.ts'
import { index, meaningAlone, newRepository, newStores, page, pages, skill, useReuseScene } from './snapshot-reuse-scene.ts'

useReuseScene()

/** Skills that differ in all that parsing finds. */
const SKILLS: Record<string, string> = {
  'skills/plain/SKILL.md': skill('plain'),
  'skills/linked/SKILL.md':
    '---\nname: linked\ndescription: Links.\n---\n# Linked\n\nSee [one](/docs/0/page-0.md), `docs/1/page-1.md` and ![it](a.png).\n\n<!-- hidden -->\n\n## More\n',
  'skills/typed/SKILL.md':
    '---\nname: typed\ndescription: Types.\nmetadata: {version: "1.0", 2: two, 10: ten, __proto__: odd}\npaths: [a, b]\nodd: {x: 1.50, yes: true, none: null, __proto__: {deep: 1}}\nkeywords: [forms, "two words"]\n---\nTyped.\n',
  'skills/half/SKILL.md': '---\nname: half\ndescription: "Half of a character: \\ud83d"\n---\nHalf.\n',
  'skills/none/SKILL.md': '# No front matter\n\nIts first paragraph.\n',
  'skills/open/SKILL.md': '---\nname: open\nlicense: MIT\n',
  'skills/broken/SKILL.md': '---\nname: broken\ndescription: "open\n---\nBroken.\n',
  'skills/repaired/SKILL.md': '---\nname: repaired\ndescription: Use when: it rains\n---\nRepaired.\n',
  'skills/mark/SKILL.md': `\uFEFF${skill('mark')}`,
  'skills/other/SKILL.md': '---\nname: other-name\ndescription: Says \u202Emore.\n---\n',
  'skills/fence/SKILL.md': '---\nname: fence\ndescription: Ends.\n---  \n---\nFence.\n',
  'skills/german/SKILL.md':
    '---\nname: german\ndescription: Says.\ntranslations: {de: {name: deutsch, description: Sagt.}}\ninclude: [/docs/2/page-2.md]\nmetadata: {internal: "true"}\n---\nGerman.\n',
}

async function firstCommit() {
  const subject = await newRepository()
  const first = await subject.repository.commit({ ...pages(40), ...SKILLS })
  const stores = newStores()
  await index(stores, subject, first)
  return { subject, ...stores }
}

test.each<[string, Record<string, string | null>]>([
  ['a document changed', { 'docs/1/page-1.md': page(1, 1) }],
  ['a skill changed', { 'skills/plain/SKILL.md': skill('plain-2') }],
  ['the license forbids copies', { 'package.json': '{"license":"UNLICENSED"}\n' }],
  [
    'skills have other folders',
    Object.fromEntries(
      Object.entries(SKILLS).flatMap(([path, text]) => [
        [path, null],
        [path.replace('skills/', 'moved/x-'), text],
      ]),
    ),
  ],
  ['a skill is the root', { 'SKILL.md': SKILLS['skills/plain/SKILL.md'] as string }],
])('the skills of the next commit equal those from scratch when %s', async (_, change) => {
  const { subject, blobs, states } = await firstCommit()
  const second = await subject.repository.commit(change)
  const third = await subject.repository.commit({ 'docs/2/page-2.md': page(2, 2) })
  for (const commit of [second, third]) {
    await index({ blobs, states }, subject, commit)
    expect(await meaningOf(blobs, subject.described, commit)).toEqual(await meaningAlone(subject, commit))
  }
})
