import { describe, expect, test } from 'vitest'
import { validateFolder } from '#api/operator/read-folder.ts'
import { mp4Clip } from '#test/support/clips.ts'
import { folderOf } from '#test/support/operator-folder.ts'
import { plainPicture } from '#test/support/pictures.ts'

const PNG = await plainPicture('png', 8, 6)
const TEXT = '  en:\n    title: T\n    body: B\n    action: Open\n'
const ENTRY = `address: /local/acme/a\nposition: 1\nmedia:\n  poster: p.png\ntexts:\n${TEXT}`

/** The faults of a folder, without its path. */
async function faultsOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<string[]> {
  const folder = await folderOf({ 'showcase/p.png': PNG, 'showcase/c.mp4': mp4Clip(), 'showcase/page.png': '<html>', ...files })
  const read = await validateFolder(folder)
  return 'faults' in read ? read.faults.map(fault => fault.replace(`${folder}/`, '')) : []
}

test('a folder without faults is content, in the order of positions', async () => {
  expect(await faultsOf({ 'showcase/one.yaml': ENTRY })).toEqual([])
})

describe('a fault names the file and the line', () => {
  test.each([
    [ENTRY.replace('poster: p.png', 'poster: q.png'), 'showcase/a.yaml:4: poster: q.png is not a file in this folder'],
    [ENTRY.replace('poster: p.png', 'poster: c.mp4'), 'showcase/a.yaml:4: poster: c.mp4 is not a picture'],
    [
      ENTRY.replace('poster: p.png', 'poster: page.png'),
      'showcase/a.yaml:4: poster: page.png is not a PNG, JPEG, GIF or WebP picture, nor an MP4 or WebM clip',
    ],
    [
      ENTRY.replace('poster: p.png', 'poster: ../../x.png'),
      'showcase/a.yaml:4: poster: ../../x.png is not a file in this folder',
    ],
    [
      ENTRY.replace('  poster: p.png', '  poster: p.png\n  clip: p.png'),
      'showcase/a.yaml:5: clip: p.png is not an MP4 or WebM clip',
    ],
    [
      ENTRY.replace('  poster: p.png', '  poster: p.png\n  clip: c.mp4'),
      'showcase/a.yaml:5: clip: an entry with a clip needs published',
    ],
    [
      ENTRY.replace('  poster: p.png', '  poster: p.png\n  video: c.mp4'),
      'showcase/a.yaml:5: video: is not a known field (poster, clip, animation, reference, picture, social)',
    ],
    [ENTRY.replace('  poster: p.png', '  clip: c.mp4'), 'showcase/a.yaml:3: poster: must be the name of a file in this folder'],
    [ENTRY.replace('position: 1', 'position: first'), 'showcase/a.yaml:2: position: must be a whole number'],
    [
      ENTRY.replace('position: 1', 'position: 1\nwidth: 640'),
      'showcase/a.yaml:3: width: is not a known field (address, position, published, media, texts)',
    ],
    [
      ENTRY.replace('position: 1', 'position: 1\npublished: today'),
      'showcase/a.yaml:3: published: must be an instant like 2026-11-24T00:00:00Z',
    ],
    [
      ENTRY.replace('/local/acme/a', '/local/acme'),
      'showcase/a.yaml:1: address: the address is incomplete; it needs /<host>/<owner>/<repository>',
    ],
    [
      ENTRY.replace('  en:', '  english language:'),
      'showcase/a.yaml:6: texts: english language is not a language tag like en or pt-BR',
    ],
    [ENTRY.replace(TEXT, '  en:\n    title: T\n    body: B\n'), 'showcase/a.yaml:6: action: must be text'],
    [ENTRY.replace('title: T', 'title: ""'), 'showcase/a.yaml:7: title: must not be empty'],
  ])('%j', async (yaml, fault) => {
    expect(await faultsOf({ 'showcase/a.yaml': yaml })).toEqual([fault])
  })

  test.each([
    ['legal/terms.en.md', 'Words.\n', 'legal/terms.en.md:1: must begin with front matter that has a title'],
    ['legal/terms.en.md', '---\nrevised: 2026-01-01\n---\nWords.\n', /^legal\/terms\.en\.md:1: title: must be text$/],
    [
      'legal/terms.en.md',
      '---\ntitle: T\nrevised: yesterday\n---\nWords.\n',
      'legal/terms.en.md:3: revised: must be a date like 2026-11-24',
    ],
    ['legal/terms.en.md', '---\ntitle: T\n---\n\n', 'legal/terms.en.md: has no text below its front matter'],
    [
      'legal/imprint.en.md',
      '---\ntitle: T\n---\nW\n',
      'legal/imprint.en.md: must be named terms.<language>.md or privacy.<language>.md',
    ],
    ['legal/terms.md', '---\ntitle: T\n---\nW\n', 'legal/terms.md: must be named terms.<language>.md or privacy.<language>.md'],
    ['showcase/A B.yaml', ENTRY, 'showcase/A B.yaml: must be named by small letters, digits and hyphens'],
  ])('%s %j', async (file, content, fault) => {
    const faults = await faultsOf({ [file]: content })
    expect(faults).toEqual([typeof fault === 'string' ? fault : expect.stringMatching(fault)])
  })
})

test('all faults of all files are reported at once', async () => {
  const faults = await faultsOf({
    'featured.yaml': '- address: /local/acme\n- address: /hub/a/b\n  image: none.png\n- adress: /local/acme/a\n',
    'showcase/a.yaml': ENTRY.replace('position: 1', 'position: x').replace('title: T', 'titel: T'),
    'showcase/b.yaml': ENTRY.replace('poster: p.png', 'poster: none.png').replace('/local/acme/a', 'nothing'),
    'legal/terms.md': '',
  })
  expect(faults.map(fault => fault.replace(/: .*/, ''))).toEqual([
    'featured.yaml:4',
    'showcase/a.yaml:7',
    'showcase/a.yaml:2',
    'showcase/b.yaml:1',
    'showcase/b.yaml:4',
    'legal/terms.md',
  ])
})
