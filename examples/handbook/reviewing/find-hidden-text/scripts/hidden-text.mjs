#!/usr/bin/env node
// Finds hidden text in text files. Prints each finding with its place and, for tag characters, the text that they spell.
//
//   node hidden-text.mjs FILE...
//
// Exit codes: 0 nothing found, 1 something found, 2 wrong usage or an unreadable file.

import { readFileSync } from 'node:fs'

/** Kinds of hidden text. A single joiner (U+200C, U+200D) or variation selector is part of scripts and emoji and is not reported. */
const KINDS = [
  ['tag characters', /[\u{E0000}-\u{E007F}]+/gu],
  ['direction control', /[\u202A-\u202E\u2066-\u2069]+/gu],
  ['zero-width character', /[\u200B\u2060-\u2064]+|\uFEFF+|(?:\u200C|\u200D){2,}/gu],
  ['variation selectors', /(?:[\uFE00-\uFE0F]|[\u{E0100}-\u{E01EF}]){2,}/gu],
  ['control character', /\p{Cc}+/gu],
  ['HTML comment', /<!--.*?(?:-->|$)/gu],
  ['text after a long gap', /(?<=\S {80,})\S.*$/gu],
]

const files = process.argv.slice(2)
if (files.length === 0) {
  console.error('usage: hidden-text.mjs FILE...')
  process.exit(2)
}

let found = 0
for (const file of files) {
  const lines = readText(file).split(/\r\n|\n/)
  for (const [index, line] of lines.entries()) {
    // Editors write a byte order mark at the start of a file; it hides nothing.
    const text = index === 0 ? line.replace(/^\uFEFF/, '') : line
    for (const [kind, pattern] of KINDS) {
      for (const match of text.matchAll(pattern)) {
        const visible = kind === 'control character' ? match[0].replaceAll('\t', '') : match[0]
        if (visible === '') continue
        found++
        const column = [...text.slice(0, match.index)].length + 1
        console.log(`${file}:${index + 1}:${column} ${kind}: ${show(kind, visible)}`)
      }
    }
  }
}
process.exitCode = found === 0 ? 0 : 1

function readText(file) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file))
  } catch (error) {
    console.error(`${file}: ${error.message}`)
    process.exit(2)
  }
}

/** Returns a finding in characters that any terminal shows. */
function show(kind, text) {
  const points = [...text].map(character => character.codePointAt(0))
  if (kind === 'tag characters') {
    const spelled = points.map(point => String.fromCharCode(point - 0xe0000)).join('')
    return `${points.length} spelling ${JSON.stringify(spelled)}`
  }
  if (kind === 'HTML comment' || kind === 'text after a long gap') return JSON.stringify(text.slice(0, 200))
  return points.map(point => `U+${point.toString(16).toUpperCase().padStart(4, '0')}`).join(' ')
}
