import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { JOBS_AT_ONCE, RETENTION_DAYS, TOKEN_DAYS, TOKEN_LABEL_CHARACTERS } from '#core/limits.ts'
import { scrubbed } from '#words/scrubbed.ts'
import { failureIn } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import manifest from '../package.json' with { type: 'json' }
import type { CheckOptions } from './check.ts'
import type { StatusCommand } from './status.ts'
import type { TokenCommand } from './token.ts'

/**
 * The commands of `mountglass`. Each loads its program when it is called, so `--help` loads none.
 *
 * @param argv as `process.argv`
 * @param env the settings of the program that is called
 * @returns whether an error ended the command
 */
export async function runCommands(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  const program = new Command('mountglass')
    .description(t('commands.about'))
    .version(manifest.version)
    .configureOutput({ outputError: (text, write) => write(scrubbed(text)) })
    .showHelpAfterError(t('usage.hint'))
    .exitOverride()
  const ofReaders = [addRead, addFind, addCheck, addDiff, addMcp, addPin, addVerify]
  const ofOperators = [addServe, addWork, addIndex, addPublish, addToken, addKeys, addSweep, addStatus]
  for (const add of [...ofReaders, ...ofOperators]) add(program, env)
  addOverview(program, env)

  program.hook('preAction', async (_program, command) => {
    const store: string | undefined = command.opts().store ?? env.MOUNTGLASS_STORE
    if (!isOnline(command.name(), store)) return
    const { useProxies } = await import('#infra/system/proxies.ts')
    useProxies(env)
  })
  try {
    await program.parseAsync(argv)
    return false
  } catch (error) {
    // Wrong usage is always 2. Exit code 1 is a command that ran and failed, or found errors.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
    else fail(error, env)
    return !(error instanceof CommanderError)
  }
}

/** Commands that read this machine alone. Given an address, those that read and `mcp` use the proxies by themselves. */
const OFFLINE = ['check', 'diff', 'rotate', 'mcp', 'mountglass', 'read', 'find']
/** Commands that ask the store alone. */
const OF_STORE = ['sweep', 'publish', 'create', 'list', 'delete']

function isOnline(command: string, store = ''): boolean {
  return OF_STORE.includes(command) ? store.startsWith('s3:') : !OFFLINE.includes(command)
}

/** One line: traces are for those who ask for them. */
function fail(error: unknown, { MOUNTGLASS_LOG: level }: NodeJS.ProcessEnv): void {
  process.stderr.write(`mountglass: ${failureIn(error)}\n`)
  if (level === 'debug' || level === 'trace') process.stderr.write(`${scrubbed(String((error as Error).stack))}\n`)
  process.exitCode = 1
}

interface ReaderFlags {
  service?: string
  json?: boolean
  private?: boolean
}

/** Options of every command that reads an address or a folder. */
function addReaderOptions(command: Command): Command {
  return command
    .option('--service <url>', t('commands.service'))
    .option('--private', t('commands.readerPrivate'))
    .option('--json', t('commands.answerJson'))
}

/** `mountglass <address or folder>`: the command without a name. */
function addOverview(program: Command, env: NodeJS.ProcessEnv): void {
  addReaderOptions(program.argument('[address or folder...]', t('commands.target')))
    .option('--all', t('commands.all'))
    .usage(t('commands.usage'))
    // Options of a command stand behind its name.
    .enablePositionalOptions()
    .helpCommand(true)
    // A word that is no command is told first.
    .allowUnknownOption()
    .action(async (words: string[], options: ReaderFlags & { all?: boolean }) => {
      const { overviewOf } = await import('./reader/overview-words.ts')
      process.exitCode = await overviewOf(words, options, env, {
        names: program.commands.map(command => command.name()),
        showHelp: () => program.help({ error: true }),
        refuseOption: option => program.error(t('usage.unknownOption', { option }), { code: 'commander.unknownOption' }),
      })
    })
}

function addRead(program: Command, env: NodeJS.ProcessEnv): void {
  addReaderOptions(
    program
      .command('read')
      .description(t('commands.read'))
      .argument('<address or folder>', t('commands.target'))
      .argument('[path]', t('commands.readPath'))
      .option('--page <n>', t('commands.readPage'), wholeNumber(PAGES))
      .option('--exact', t('commands.readExact')),
  ).action(async (target: string, path: string | undefined, options: ReaderFlags & { page?: number; exact?: boolean }) => {
    const { readText } = await import('./reader/commands.ts')
    process.exitCode = await readText(target, path, options, env)
  })
}

function addFind(program: Command, env: NodeJS.ProcessEnv): void {
  addReaderOptions(
    program
      .command('find')
      .description(t('commands.find'))
      .argument('<address or folder>', t('commands.target'))
      .argument('<query...>', t('commands.findQuery')),
  ).action(async (target: string, query: string[], options: ReaderFlags) => {
    const { findWords } = await import('./reader/commands.ts')
    process.exitCode = await findWords(target, query.join(' '), options, env)
  })
}

function addServe(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('serve')
    .description(t('commands.serve'))
    .action(async () => {
      const { serve } = await import('./serve.ts')
      await serve(env)
    })
}

function addWork(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('work')
    .description(t('commands.work'))
    .option('--concurrency <jobs>', t('commands.workConcurrency'), wholeNumber(CONCURRENCY), JOBS_AT_ONCE)
    .action(async (options: { concurrency: number }) => {
      const { work } = await import('./work.ts')
      await work(env, options)
    })
}

function addIndex(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('index')
    .description(t('commands.index'))
    .argument('<address>', t('commands.indexAddress'))
    .option('--store <store>', t('commands.indexStore'))
    .action(async (address: string, options: { store?: string }) => {
      const { indexAddress } = await import('./index-address.ts')
      process.exitCode = await indexAddress(address, options, env)
    })
}

function addCheck(program: Command): void {
  program
    .command('check')
    .description(t('commands.check'))
    .argument('[folder]', t('commands.folder'), '.')
    .option('--json', t('commands.json'))
    .option('--watch', t('commands.checkWatch'))
    .option('--private', t('commands.checkPrivate'))
    .option('-v, --verbose', t('commands.checkVerbose'))
    .option('--all', t('commands.all'))
    .action(async (folder: string, options: CheckOptions) => {
      const { checkFolder } = await import('./check.ts')
      process.exitCode = await checkFolder(folder, options)
    })
}

function addDiff(program: Command): void {
  program
    .command('diff')
    .description(t('commands.diff'))
    .argument('[folder]', t('commands.folder'), '.')
    .option('--from <ref>', t('commands.diffFrom'))
    .option('--fail-on <kinds>', t('commands.diffFailOn'))
    .option('--json', t('commands.json'))
    .option('--private', t('commands.diffPrivate'))
    .option('--all', t('commands.all'))
    .action(
      async (folder: string, options: { from?: string; failOn?: string; json?: boolean; private?: boolean; all?: boolean }) => {
        const { diffFolder } = await import('./diff.ts')
        process.exitCode = await diffFolder(folder, options)
      },
    )
}

function addMcp(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('mcp')
    .description(t('commands.mcp'))
    .argument('[folder or address]', t('commands.mcpTarget'), '.')
    .option('--private', t('commands.mcpPrivate'))
    .action(async (target: string, options: { private?: boolean }) => {
      const { serveOverStdio } = await import('./mcp.ts')
      process.exitCode = await serveOverStdio(target, options, env)
    })
}

const PAGES = { min: 1, max: 1_000_000 }
const CONCURRENCY = { min: 1, max: 64 }
const TIMEOUT = { seconds: 600, min: 1, max: 86_400 }

function addPin(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('pin')
    .description(t('commands.pin'))
    .argument('<address...>', t('commands.pinAddress'))
    .option('--lock <file>', t('commands.pinLock'))
    .option('--service <url>', t('commands.service'))
    .option('--timeout <seconds>', t('commands.timeout'), wholeNumber(TIMEOUT, 'usage.wholeSeconds'), TIMEOUT.seconds)
    .option('--json', t('commands.json'))
    .action(async (addresses: string[], options: { lock?: string; service?: string; timeout: number; json?: boolean }) => {
      const { pin } = await import('./pin.ts')
      process.exitCode = await pin(addresses, options, env)
    })
}

function addVerify(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('verify')
    .description(t('commands.verify'))
    .argument('[lock file]', t('commands.verifyLock'))
    .option('--lock <file>', t('commands.verifyLockOption'))
    .option('--update', t('commands.verifyUpdate'))
    .option('--allow-moved', t('commands.verifyMoved'))
    .option('--service <url>', t('commands.service'))
    .option('--timeout <seconds>', t('commands.timeout'), wholeNumber(TIMEOUT, 'usage.wholeSeconds'), TIMEOUT.seconds)
    .option('--json', t('commands.json'))
    .action(
      async (
        file: string | undefined,
        options: { lock?: string; update?: boolean; allowMoved?: boolean; service?: string; timeout: number; json?: boolean },
      ) => {
        const { verify } = await import('./pin.ts')
        process.exitCode = await verify(file, options, env)
      },
    )
}

function addPublish(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('publish')
    .description(t('commands.publish'))
    .argument('<folder>', t('commands.publishFolder'))
    .option('--store <store>', t('commands.publishStore'))
    .option('--dry-run', t('commands.publishDryRun'))
    .action(async (folder: string, options: { store?: string; dryRun?: boolean }) => {
      const { publish } = await import('./publish.ts')
      process.exitCode = await publish(folder, options, env)
    })
}

function addToken(program: Command, env: NodeJS.ProcessEnv): void {
  const token = program.command('token').description(t('commands.token'))
  const store = ['--store <store>', t('commands.serviceStore')] as const
  const run = async (command: TokenCommand, options: { store?: string }) => {
    const { manageTokens } = await import('./token.ts')
    process.exitCode = await manageTokens(command, options, env)
  }
  token
    .command('create')
    .description(t('commands.tokenCreate'))
    .argument('<address>', t('commands.tokenAddress'))
    .option('--label <label>', t('commands.tokenLabel'), label, 'command line')
    .option('--days <days>', t('commands.tokenDays'), wholeNumber(TOKEN_DAYS), 90)
    .option(...store)
    .action((address: string, { label, days, ...options }: { store?: string; label: string; days: number }) =>
      run({ action: 'create', address, label, days }, options),
    )
  token
    .command('list')
    .description(t('commands.tokenList'))
    .argument('[address]', t('commands.tokenListAddress'))
    .option(...store)
    .action((address: string | undefined, options: { store?: string }) =>
      run({ action: 'list', address: address ?? null }, options),
    )
  token
    .command('delete')
    .description(t('commands.tokenDelete'))
    .argument('<id>', t('commands.tokenId'))
    .option(...store)
    .action((id: string, options: { store?: string }) => run({ action: 'delete', id }, options))
}

function addKeys(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('keys')
    .description(t('commands.keys'))
    .command('rotate')
    .description(t('commands.keysRotate'))
    .option('--retire <kid>', t('commands.keysRetire'))
    .option('--store <store>', t('commands.serviceStore'))
    .action(async (options: { store?: string; retire?: string }) => {
      const { rotateKeys } = await import('./keys.ts')
      process.exitCode = await rotateKeys(options, env)
    })
}

function addStatus(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('status')
    .description(t('commands.status'))
    .option('--store <store>', t('commands.statusStore'))
    .option('--json', t('commands.json'))
    .action(async (options: StatusCommand) => {
      const { status } = await import('./status.ts')
      process.exitCode = await status(options, env)
    })
}

function addSweep(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('sweep')
    .description(t('commands.sweep'))
    .option('--store <store>', t('commands.sweepStore'))
    .option('--days <days>', t('commands.sweepDays'), wholeNumber(RETENTION_DAYS), RETENTION_DAYS.default)
    .option('--remove', t('commands.sweepRemove'))
    .action(async (options: { store?: string; days: number; remove?: boolean }) => {
      const { sweep } = await import('./sweep.ts')
      process.exitCode = await sweep(options, env)
    })
}

/** A parser of whole numbers within bounds. */
function wholeNumber(
  { min, max }: { min: number; max: number },
  key: 'usage.wholeNumber' | 'usage.wholeSeconds' = 'usage.wholeNumber',
): (text: string) => number {
  return text => {
    const value = /^\d+$/.test(text) && text.length <= String(max).length ? Number(text) : Number.NaN
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(t(key, { min, max }))
    return value
  }
}

/** Parses the label of a token. */
function label(text: string): string {
  const { length } = [...text]
  if (length < 1 || length > TOKEN_LABEL_CHARACTERS || /\p{Cc}/u.test(text))
    throw new InvalidArgumentError(t('usage.characters', { max: TOKEN_LABEL_CHARACTERS }))
  return text
}
