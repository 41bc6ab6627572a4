import { type StartAttack, sendRequests } from './attack.ts'

const CLIENTS = 8

/** Asks for pages that render a large table. @param paths of Markdown files with `largeTable` */
export function largeTables(address: string, paths: readonly string[]): StartAttack {
  return origin =>
    sendRequests(origin, CLIENTS, number => {
      const path = encodeURIComponent(paths[number % paths.length] ?? '')
      return `${address}?view=file&look=rendered&path=${path}`
    })
}

/** A Markdown table of about so many characters, most of them cells. */
export function largeTable(characters: number): string {
  const columns = 100
  const row = `${'|x'.repeat(columns)}|\n`
  return `# Table\n\n${row}${'|-'.repeat(columns)}|\n${row.repeat(Math.ceil(characters / row.length))}`
}
