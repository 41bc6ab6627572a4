import { Command, Help } from 'commander'
import { scrubbed } from '#core/scrubbed.ts'
import { fill, type Speech } from '#core/words/speech.ts'

/** The program without its commands: the frame of its help and its messages about arguments, in the language of the terminal. */
export function createProgram(version: string, speech: Speech): Command {
  const { usage, commands } = speech.words
  const titles: Readonly<Record<string, string>> = {
    'Usage:': usage.usage,
    'Arguments:': usage.arguments,
    'Options:': usage.options,
    'Commands:': usage.commands,
  }
  const inWords = (description: string) => description.replace(/\(default: (?=[^(]*\)$)/, usage.default)
  const inUsage = (line: string) => line.replace('[options]', usage.someOptions).replace('[command]', usage.someCommand)
  return new Command('mountglass')
    .description(commands.about)
    .version(version, '-V, --version', usage.version)
    .helpOption('-h, --help', usage.help)
    .helpCommand('help [command]', usage.help)
    .configureHelp({
      styleTitle: title => titles[title] ?? title,
      commandUsage: command => inUsage(Help.prototype.commandUsage(command)),
      subcommandTerm: command => inUsage(Help.prototype.subcommandTerm(command)),
      optionDescription: option => inWords(Help.prototype.optionDescription(option)),
      argumentDescription: argument => inWords(Help.prototype.argumentDescription(argument)),
    })
    .configureOutput({ outputError: (text, write) => write(scrubbed(translateMessage(text, speech))) })
    .showHelpAfterError()
    .exitOverride()
}

/**
 * What the library says of wrong arguments, in the language of the terminal. A message that is none of these stays English: the library has no
 * catalogue of its own.
 */
export function translateMessage(text: string, { words, count }: Speech): string {
  const { usage } = words
  const messages: readonly Message[] = [
    [/^error: unknown option '(.*)'$/m, usage.unknownOption, ['option']],
    [/^error: unknown command '(.*)'$/m, usage.unknownCommand, ['command']],
    [/^error: missing required argument '(.*)'$/m, usage.missingArgument, ['argument']],
    [/^error: option '(.*)' argument missing$/m, usage.missingValue, ['option']],
    [/^error: option '([^']*)' argument '(.*)' is invalid\. (.*)$/m, usage.invalidValue, ['option', 'value', 'reason']],
    [/^\(Did you mean one of (.*)\?\)$/m, usage.similarOnes, ['names']],
    [/^\(Did you mean (?!one of )(.*)\?\)$/m, usage.similar, ['name']],
  ]
  const counted = text.replace(
    /^error: too many arguments(?: for '(.*?)')?\. Expected (\d+) arguments? but got (\d+): (.*)\.$/m,
    (_whole, command: string | undefined, expected: string, got: string, values: string) =>
      fill(command === undefined ? usage.tooManyInAll : usage.tooMany, {
        ...(command !== undefined && { command }),
        expected: count(Number(expected), usage.argument),
        got,
        values,
      }),
  )
  return messages.reduce((said, [pattern, template, names]) => {
    return said.replace(pattern, (...groups: string[]) =>
      fill(template, Object.fromEntries(names.map((name, index) => [name, groups[index + 1] ?? '']))),
    )
  }, counted)
}

/** What the library says, our sentence for it, and the names of its values, in the order of the groups. */
type Message = [says: RegExp, template: string, names: readonly string[]]
