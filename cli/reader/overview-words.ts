import { lstat } from 'node:fs/promises'
import { closeName } from '#core/close-name.ts'
import { printable } from '#core/hidden-text.ts'
import { t } from '#words/t.ts'
import { isInWorkTree } from '../in-work-tree.ts'
import { say } from '../say.ts'
import type { ReaderOptions } from './commands.ts'

const EXIT_USAGE = 2

/** The program whose command has no name. */
interface Program {
  /** Of its other commands. */
  names: readonly string[]
  /** Prints the help as an error, and throws. */
  showHelp(): never
  refuseOption(option: string): never
}

/** `mountglass [<address or folder>]`: what the words are that name no command. Without words it is the folder, in a git work tree. */
export async function overviewOf(
  words: readonly string[],
  options: ReaderOptions & { all?: boolean },
  env: NodeJS.ProcessEnv,
  { names, showHelp, refuseOption }: Program,
): Promise<number> {
  const [first, ...others] = words.filter(word => !word.startsWith('-'))
  const unknown = first === undefined || (await exists(first)) ? null : unknownCommand(first, names)
  if (unknown !== null) return refuse(unknown)
  const option = words.find(word => word.startsWith('-'))
  if (option !== undefined) return refuseOption(option)
  if (first === undefined && !isInWorkTree(process.cwd())) return showHelp()
  if (others.length > 0) return refuse(t('usage.tooMany', { words: words.join(' ') }))
  const { showOverview } = await import('./commands.ts')
  return await showOverview(first ?? '.', options, env)
}

function refuse(problem: string): number {
  say(printable(problem))
  return EXIT_USAGE
}

/** What is wrong with a word that can only be the name of a command; `null`: it may be an address. */
export function unknownCommand(word: string, commands: readonly string[]): string | null {
  if (word === '' || /[/\\:@.~]/.test(word)) return null
  const meant = closeName(word, commands)
  return meant === null ? t('usage.unknownCommand', { word }) : t('usage.unknownCommandSimilar', { word, meant })
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  )
}
