import { printable } from '#core/hidden-text.ts'

/** A page that is a table, each row with its name first. */
export interface TablePage {
  title: string
  /** Paragraphs above the table. */
  notes: readonly string[]
  head: readonly string[]
  rows: readonly (readonly string[])[]
}

/** The page as HTML without styles and scripts: the policy of the port permits neither. */
export function tablePage({ title, notes, head, rows }: TablePage): string {
  const lines = [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="robots" content="noindex">',
    '<meta name="viewport" content="width=device-width">',
    `<title>${escaped(title)}</title>`,
    `<h1>${escaped(title)}</h1>`,
    ...notes.map(note => `<p>${escaped(note)}</p>`),
    `<table><thead><tr>${head.map(cell => `<th scope="col">${escaped(cell)}</th>`).join('')}</tr><tbody>`,
    ...rows.map(rowOf),
    '</table>',
  ]
  return `${lines.join('\n')}\n`
}

function rowOf([name = '', ...cells]: readonly string[]): string {
  return `<tr><th scope="row">${escaped(name)}</th>${cells.map(cell => `<td>${escaped(cell)}</td>`).join('')}</tr>`
}

function escaped(text: string): string {
  return printable(text).replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
