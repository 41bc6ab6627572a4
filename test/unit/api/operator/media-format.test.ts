import { expect, test } from 'vitest'
import { readMediaFormat } from '#api/operator/folder-files.ts'
import { mp4Box, mp4Clip, webmClip, webmElement } from '#test/support/clips.ts'
import { EMPTY_ARCHIVE, plainPicture } from '#test/support/pictures.ts'

test('size and duration of a clip are read from its frame', () => {
  const frame = { width: 640, height: 360, durationMs: 2_500 }
  expect(readMediaFormat(mp4Clip())).toEqual({ type: 'video/mp4', extension: 'mp4', ...frame })
  expect(readMediaFormat(webmClip())).toEqual({ type: 'video/webm', extension: 'webm', ...frame })
})

test('a picture has no duration', async () => {
  expect(readMediaFormat(await plainPicture('gif', 5, 4))).toMatchObject({
    type: 'image/gif',
    width: 5,
    height: 4,
    durationMs: null,
  })
})

test.each([
  ['a page', Buffer.from('<!doctype html>'), /^is not a PNG, JPEG, GIF or WebP picture, nor an MP4 or WebM clip$/],
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), /^is not a PNG/],
  ['nothing', Buffer.alloc(0), /^is not a PNG/],
  ['a Matroska file', webmClip({ docType: 'matroska' }), /^is not a PNG/],
  ['an MP4 with bytes behind its end', Buffer.concat([mp4Clip(), Buffer.from('xyz')]), /^is not a whole clip/],
  ['a WebM with bytes behind its end', Buffer.concat([webmClip(), Buffer.alloc(3)]), /^is not a whole clip/],
  ['a truncated MP4', mp4Clip().subarray(0, -1), /^is not a whole clip/],
  ['a truncated WebM', webmClip().subarray(0, -1), /^is not a whole clip/],
  ['an MP4 without a duration', mp4Clip({ durationMs: 0 }), /^does not say its size and its duration/],
  ['a WebM without a size', webmClip({ width: 0 }), /^does not say its size and its duration/],
  [
    'an MP4 with an archive inside',
    Buffer.concat([mp4Clip(), mp4Box('free', EMPTY_ARCHIVE)]),
    /^is a ZIP archive besides being a clip$/,
  ],
  [
    'a WebM with a page inside',
    Buffer.concat([webmClip(), webmElement(0xec, Buffer.from('<html>'))]),
    /^is a page besides being a clip$/,
  ],
])('refused by name is %s', (_name, bytes, problem) => {
  expect(readMediaFormat(bytes)).toEqual({ problem: expect.stringMatching(problem) })
})

test('every beginning of a clip is refused', () => {
  for (const clip of [mp4Clip(), webmClip()])
    for (let length = 0; length < clip.length; length++)
      expect(readMediaFormat(clip.subarray(0, length))).toHaveProperty('problem')
})
