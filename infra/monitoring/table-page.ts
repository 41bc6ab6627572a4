import { createHash } from 'node:crypto'
import { printable } from '#core/hidden-text.ts'

/** A page that is a table. */
export interface TablePage {
  title: string
  /** Paragraphs above the table. */
  notes: readonly string[]
  head: readonly string[]
  rows: readonly TableRow[]
}

export interface TableRow {
  name: string
  /** The page of what the row is about. */
  href: string
  cells: readonly string[]
  /** There is something to look at. */
  isBad: boolean
}

const STYLE = [
  ':root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}',
  'body{margin:1.5rem;overflow-x:auto}',
  'h1{font-size:1.5rem;margin:0}',
  'table{border-collapse:collapse}',
  'th,td{padding:.375rem 1.25rem .375rem 0;border-bottom:1px solid light-dark(#ddd,#444);text-align:start;vertical-align:baseline}',
  'th,td:not(:last-child){white-space:nowrap}',
  'td:last-child{min-width:18rem}',
  '.bad td:first-of-type{color:light-dark(#a8231b,#ff8d7e);font-weight:600}',
  'a{color:inherit}',
].join('\n')

/** What the policy of the port permits: the styles of these pages, and nothing else. */
export const TABLE_STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`

/** The page as HTML, without scripts. */
export function tablePage({ title, notes, head, rows }: TablePage): string {
  const lines = [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="robots" content="noindex">',
    '<meta name="viewport" content="width=device-width">',
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<h1>${escaped(title)}</h1>`,
    ...notes.map(note => `<p>${escaped(note)}</p>`),
    `<table><thead><tr>${head.map(cell => `<th scope="col">${escaped(cell)}</th>`).join('')}</tr><tbody>`,
    ...rows.map(rowOf),
    '</table>',
  ]
  return `${lines.join('\n')}\n`
}

function rowOf({ name, href, cells, isBad }: TableRow): string {
  const link = `<a href="${escaped(href)}">${escaped(name)}</a>`
  const row = `<th scope="row">${link}</th>${cells.map(cell => `<td>${escaped(cell)}</td>`).join('')}`
  return isBad ? `<tr class="bad">${row}</tr>` : `<tr>${row}</tr>`
}

function escaped(text: string): string {
  return printable(text).replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
