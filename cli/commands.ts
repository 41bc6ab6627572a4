import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { JOBS_AT_ONCE, RETENTION_DAYS, TOKEN_DAYS, TOKEN_LABEL_CHARACTERS } from '#core/limits.ts'
import { WORDS } from '#words/en/commands.ts'
import { fill } from '#words/fill.ts'
import { scrubbed } from '#words/scrubbed.ts'
import { failureIn } from '#words/sentence.ts'
import manifest from '../package.json' with { type: 'json' }
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
    .description(WORDS.commands.about)
    .version(manifest.version)
    .configureOutput({ outputError: (text, write) => write(scrubbed(text)) })
    .showHelpAfterError()
    .exitOverride()
  const ofOperators = [addServe, addWork, addIndex, addPublish, addToken, addKeys, addSweep]
  const ofReaders = [addCheck, addDiff, addMcp, addPin, addVerify]
  for (const add of [...ofOperators, ...ofReaders]) add(program, env)

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

/** Commands that read this machine alone. Given an address, `mcp` uses the proxies by itself. */
const OFFLINE = ['check', 'diff', 'rotate', 'mcp']
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

function addServe(program: Command, env: NodeJS.ProcessEnv): void {
  const say = WORDS.commands
  program
    .command('serve')
    .description(say.serve)
    .action(async () => {
      const { serve } = await import('./serve.ts')
      await serve(env)
    })
}

function addWork(program: Command, env: NodeJS.ProcessEnv): void {
  const say = WORDS.commands
  program
    .command('work')
    .description(say.work)
    .option('--concurrency <jobs>', say.workConcurrency, wholeNumber(CONCURRENCY), JOBS_AT_ONCE)
    .action(async (options: { concurrency: number }) => {
      const { work } = await import('./work.ts')
      await work(env, options)
    })
}

function addIndex(program: Command, env: NodeJS.ProcessEnv): void {
  const say = WORDS.commands
  program
    .command('index')
    .description(say.index)
    .argument('<address>', say.indexAddress)
    .option('--store <store>', say.indexStore)
    .action(async (address: string, options: { store?: string }) => {
      const { indexAddress } = await import('./index-address.ts')
      process.exitCode = await indexAddress(address, options, env)
    })
}

function addCheck(program: Command): void {
  const say = WORDS.commands
  program
    .command('check')
    .description(say.check)
    .argument('[folder]', say.folder, '.')
    .option('--json', say.json)
    .option('--watch', say.checkWatch)
    .option('--private', say.checkPrivate)
    .option('--all', say.all)
    .action(async (folder: string, options: { json?: boolean; watch?: boolean; private?: boolean; all?: boolean }) => {
      const { checkFolder } = await import('./check.ts')
      process.exitCode = await checkFolder(folder, options)
    })
}

function addDiff(program: Command): void {
  const say = WORDS.commands
  program
    .command('diff')
    .description(say.diff)
    .argument('[folder]', say.folder, '.')
    .option('--from <ref>', say.diffFrom)
    .option('--fail-on <kinds>', say.diffFailOn)
    .option('--json', say.json)
    .option('--private', say.diffPrivate)
    .option('--all', say.all)
    .action(
      async (folder: string, options: { from?: string; failOn?: string; json?: boolean; private?: boolean; all?: boolean }) => {
        const { diffFolder } = await import('./diff.ts')
        process.exitCode = await diffFolder(folder, options)
      },
    )
}

function addMcp(program: Command, env: NodeJS.ProcessEnv): void {
  const say = WORDS.commands
  program
    .command('mcp')
    .description(say.mcp)
    .argument('[folder or address]', say.mcpTarget, '.')
    .option('--private', say.mcpPrivate)
    .action(async (target: string, options: { private?: boolean }) => {
      const { serveOverStdio } = await import('./mcp.ts')
      process.exitCode = await serveOverStdio(target, options, env)
    })
}

const CONCURRENCY = { min: 1, max: 64 }
const TIMEOUT = { seconds: 600, min: 1, max: 86_400 }

function addPin(program: Command, env: NodeJS.ProcessEnv): void {
  const say = WORDS.commands
  program
    .command('pin')
    .description(say.pin)
    .argument('<address...>', say.pinAddress)
    .option('--lock <file>', say.pinLock)
    .option('--service <url>', say.service)
    .option('--timeout <seconds>', say.timeout, wholeNumber(TIMEOUT, WORDS.usage.wholeSeconds), TIMEOUT.seconds)
    .option('--json', say.json)
    .action(async (addresses: string[], options: { lock?: string; service?: string; timeout: number; json?: boolean }) => {
      const { pin } = await import('./pin.ts')
      process.exitCode = await pin(addresses, options, env)
    })
}

function addVerify(program: Command, env: NodeJS.ProcessEnv): void {
  const say = WORDS.commands
  program
    .command('verify')
    .description(say.verify)
    .argument('[lock file]', say.verifyLock)
    .option('--lock <file>', say.verifyLockOption)
    .option('--update', say.verifyUpdate)
    .option('--allow-moved', say.verifyMoved)
    .option('--service <url>', say.service)
    .option('--timeout <seconds>', say.timeout, wholeNumber(TIMEOUT, WORDS.usage.wholeSeconds), TIMEOUT.seconds)
    .option('--json', say.json)
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
  const say = WORDS.commands
  program
    .command('publish')
    .description(say.publish)
    .argument('<folder>', say.publishFolder)
    .option('--store <store>', say.publishStore)
    .option('--dry-run', say.publishDryRun)
    .action(async (folder: string, options: { store?: string; dryRun?: boolean }) => {
      const { publish } = await import('./publish.ts')
      process.exitCode = await publish(folder, options, env)
    })
}

function addToken(program: Command, env: NodeJS.ProcessEnv): void {
  const say = WORDS.commands
  const token = program.command('token').description(say.token)
  const store = ['--store <store>', say.serviceStore] as const
  const run = async (command: TokenCommand, options: { store?: string }) => {
    const { manageTokens } = await import('./token.ts')
    process.exitCode = await manageTokens(command, options, env)
  }
  token
    .command('create')
    .description(say.tokenCreate)
    .argument('<address>', say.tokenAddress)
    .option('--label <label>', say.tokenLabel, label, 'command line')
    .option('--days <days>', say.tokenDays, wholeNumber(TOKEN_DAYS), 90)
    .option(...store)
    .action((address: string, { label, days, ...options }: { store?: string; label: string; days: number }) =>
      run({ action: 'create', address, label, days }, options),
    )
  token
    .command('list')
    .description(say.tokenList)
    .argument('[address]', say.tokenListAddress)
    .option(...store)
    .action((address: string | undefined, options: { store?: string }) =>
      run({ action: 'list', address: address ?? null }, options),
    )
  token
    .command('delete')
    .description(say.tokenDelete)
    .argument('<id>', say.tokenId)
    .option(...store)
    .action((id: string, options: { store?: string }) => run({ action: 'delete', id }, options))
}

function addKeys(program: Command, env: NodeJS.ProcessEnv): void {
  const say = WORDS.commands
  program
    .command('keys')
    .description(say.keys)
    .command('rotate')
    .description(say.keysRotate)
    .option('--retire <kid>', say.keysRetire)
    .option('--store <store>', say.serviceStore)
    .action(async (options: { store?: string; retire?: string }) => {
      const { rotateKeys } = await import('./keys.ts')
      process.exitCode = await rotateKeys(options, env)
    })
}

function addSweep(program: Command, env: NodeJS.ProcessEnv): void {
  const say = WORDS.commands
  program
    .command('sweep')
    .description(say.sweep)
    .option('--store <store>', say.sweepStore)
    .option('--days <days>', say.sweepDays, wholeNumber(RETENTION_DAYS), RETENTION_DAYS.default)
    .option('--remove', say.sweepRemove)
    .action(async (options: { store?: string; days: number; remove?: boolean }) => {
      const { sweep } = await import('./sweep.ts')
      process.exitCode = await sweep(options, env)
    })
}

/** A parser of whole numbers within bounds. */
function wholeNumber(
  { min, max }: { min: number; max: number },
  sentence: string = WORDS.usage.wholeNumber,
): (text: string) => number {
  return text => {
    const value = /^\d+$/.test(text) && text.length <= String(max).length ? Number(text) : Number.NaN
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(fill(sentence, { min, max }))
    return value
  }
}

/** Parses the label of a token. */
function label(text: string): string {
  const { length } = [...text]
  if (length < 1 || length > TOKEN_LABEL_CHARACTERS || /\p{Cc}/u.test(text))
    throw new InvalidArgumentError(fill(WORDS.usage.characters, { max: TOKEN_LABEL_CHARACTERS }))
  return text
}
