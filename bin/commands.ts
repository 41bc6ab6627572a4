import { Command, CommanderError, InvalidArgumentError } from 'commander'
import type { TokenCommand } from '#api/token-command.ts'
import { JOBS_AT_ONCE, RETENTION_DAYS, TOKEN_DAYS, TOKEN_LABEL_CHARACTERS } from '#core/limits.ts'
import manifest from '../package.json' with { type: 'json' }

/**
 * The commands of `mountglass`. Each loads its program when it is called, so `--help` loads none.
 *
 * @param argv as `process.argv`
 * @param env the settings of the program that is called
 */
export async function runCommands(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const program = new Command('mountglass')
    .description(manifest.description)
    .version(manifest.version)
    .showHelpAfterError()
    .exitOverride()
  const ofOperators = [addServe, addWork, addIndex, addPublish, addToken, addKeys, addSweep]
  const ofReaders = [addCheck, addDiff, addMcp, addPin, addVerify]
  for (const add of [...ofOperators, ...ofReaders]) add(program, env)

  try {
    await program.parseAsync(argv)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Wrong usage is always 2. Exit code 1 is a command that ran and failed, or found errors.
    process.exitCode = error.exitCode === 0 ? 0 : 2
  }
}

function addServe(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('serve')
    .description('serve the API and the pages')
    .action(async () => {
      const { serve } = await import('#api/main.ts')
      await serve(env)
    })
}

function addWork(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('work')
    .description('run the index jobs of a deployment until stopped')
    .option('--concurrency <jobs>', 'jobs at once, 1 to 64, each in its own process', parseConcurrency, JOBS_AT_ONCE)
    .action(async (options: { concurrency: number }) => {
      const { work } = await import('#indexer/commands/work.ts')
      await work(env, options)
    })
}

function addIndex(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('index')
    .description('index one address and exit')
    .argument('<address>', 'for example /local/acme/handbook@main/skills')
    .option('--store <store>', 'where to store the index, for example disk:.mountglass')
    .action(async (address: string, options: { store?: string }) => {
      const { indexAddress } = await import('#indexer/commands/index-address.ts')
      process.exitCode = await indexAddress(address, options, env)
    })
}

function addCheck(program: Command): void {
  program
    .command('check')
    .description('show what agents would receive from a working folder, uncommitted files included')
    .argument('[folder]', 'a repository, or a folder inside one', '.')
    .option('--json', 'print one JSON document')
    .option('--watch', 'check again after every change')
    .option('--private', 'check as a private repository, which serves every file whatever its license')
    .option('--all', 'print every list in full')
    .action(async (folder: string, options: { json?: boolean; watch?: boolean; private?: boolean; all?: boolean }) => {
      const { checkFolder } = await import('#indexer/commands/check-folder.ts')
      process.exitCode = await checkFolder(folder, options)
    })
}

function addDiff(program: Command): void {
  program
    .command('diff')
    .description('show what agents will read differently than at another commit, uncommitted files included')
    .argument('[folder]', 'a repository, or a folder inside one', '.')
    .option('--from <ref>', 'the commit to compare with (default: where the branch left the default branch, else HEAD)')
    .option('--fail-on <kinds>', 'end with 1 on these differences, for example rules,license,hidden-text')
    .option('--json', 'print one JSON document')
    .option('--private', 'compare as a private repository, which serves every file whatever its license')
    .option('--all', 'print every list in full')
    .action(
      async (folder: string, options: { from?: string; failOn?: string; json?: boolean; private?: boolean; all?: boolean }) => {
        const { diffFolder } = await import('#indexer/commands/diff-folder.ts')
        process.exitCode = await diffFolder(folder, options)
      },
    )
}

function addMcp(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('mcp')
    .description('serve a working folder or an address to an agent: MCP over stdin and stdout, without a port')
    .argument('[folder or address]', 'a folder, uncommitted files included, or for example gh/<owner>/<repository>', '.')
    .option('--private', 'read a folder as a private repository, which serves every file whatever its license')
    .action(async (target: string, options: { private?: boolean }) => {
      const { serveOverStdio } = await import('#api/stdio.ts')
      process.exitCode = await serveOverStdio(target, options, env)
    })
}

const SERVICE = 'base URL of a deployment to ask; without it this process reads the repositories'
const TIMEOUT = { seconds: 600, max: 86_400 }

function addPin(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('pin')
    .description('write the commits of addresses and the digests of their skills into a lock file')
    .argument('<address...>', 'for example gh/<owner>/<repository>@main/skills')
    .option('--lock <file>', 'the lock file (default: mountglass.lock.json)')
    .option('--service <url>', SERVICE)
    .option('--timeout <seconds>', 'seconds to wait for the index of an address', parseTimeout, TIMEOUT.seconds)
    .option('--json', 'print one JSON document')
    .action(async (addresses: string[], options: { lock?: string; service?: string; timeout: number; json?: boolean }) => {
      const { pin } = await import('#api/pin.ts')
      process.exitCode = await pin(addresses, options, env)
    })
}

function addVerify(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('verify')
    .description('say what moved, what changed and what is gone since addresses were pinned')
    .argument('[lock file]', 'as mountglass pin wrote it (default: mountglass.lock.json)')
    .option('--lock <file>', 'the lock file, as for mountglass pin')
    .option('--update', 'write what the addresses have now, after showing it')
    .option('--allow-moved', 'a commit that moved without changing what agents read is no difference')
    .option('--service <url>', SERVICE)
    .option('--timeout <seconds>', 'seconds to wait for the index of an address', parseTimeout, TIMEOUT.seconds)
    .option('--json', 'print one JSON document')
    .action(
      async (
        file: string | undefined,
        options: { lock?: string; update?: boolean; allowMoved?: boolean; service?: string; timeout: number; json?: boolean },
      ) => {
        const { verify } = await import('#api/pin.ts')
        process.exitCode = await verify(file, options, env)
      },
    )
}

function addPublish(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('publish')
    .description("check an operator's content and have the services of a store serve it")
    .argument('<folder>', 'featured.yaml, showcase/ and legal/, each optional')
    .option('--store <store>', 'the store of the services, for example disk:.mountglass')
    .option('--dry-run', 'show what would change, and write nothing')
    .action(async (folder: string, options: { store?: string; dryRun?: boolean }) => {
      const { publish } = await import('#api/publish.ts')
      process.exitCode = await publish(folder, options, env)
    })
}

function addToken(program: Command, env: NodeJS.ProcessEnv): void {
  const token = program.command('token').description("the operator's tokens, with which agents read private local repositories")
  const store = ['--store <store>', 'the store of the service, for example disk:.mountglass'] as const
  const run = async (command: TokenCommand, options: { store?: string }) => {
    const { manageTokens } = await import('#api/token-command.ts')
    process.exitCode = await manageTokens(command, options, env)
  }
  token
    .command('create')
    .description('make a token and print it, this once only')
    .argument('<address>', 'a private repository, for example /local/acme/handbook')
    .option('--label <label>', 'what it is for', parseLabel, 'command line')
    .option('--days <days>', 'days until it expires', parseTokenDays, 90)
    .option(...store)
    .action((address: string, { label, days, ...options }: { store?: string; label: string; days: number }) =>
      run({ action: 'create', address, label, days }, options),
    )
  token
    .command('list')
    .description('list the tokens, without their secrets')
    .argument('[address]', 'of one repository only')
    .option(...store)
    .action((address: string | undefined, options: { store?: string }) =>
      run({ action: 'list', address: address ?? null }, options),
    )
  token
    .command('delete')
    .description('end a token, at once')
    .argument('<id>', 'as the list has it')
    .option(...store)
    .action((id: string, options: { store?: string }) => run({ action: 'delete', id }, options))
}

function addKeys(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('keys')
    .description('the sealing keys of a deployment')
    .command('rotate')
    .description('add a new key, which seals from then on, or remove an old one; keys of MOUNTGLASS_KEYS are printed, not stored')
    .option('--retire <kid>', 'add none, and remove this key, which has not sealed for a month')
    .option('--store <store>', 'the store of the service, for example disk:.mountglass')
    .action(async (options: { store?: string; retire?: string }) => {
      const { rotateKeys } = await import('#api/keys-command.ts')
      process.exitCode = await rotateKeys(options, env)
    })
}

function addSweep(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('sweep')
    .description('list the unused data of a store, and remove it with --remove')
    .option('--store <store>', 'the store to sweep, for example disk:.mountglass')
    .option('--days <days>', 'days without a visit after which a snapshot is unused', parseDays, RETENTION_DAYS.default)
    .option('--remove', 'remove the unused data; without it nothing changes')
    .action(async (options: { store?: string; days: number; remove?: boolean }) => {
      const { sweep } = await import('#indexer/commands/sweep.ts')
      process.exitCode = await sweep(options, env)
    })
}

function parseConcurrency(text: string): number {
  const jobs = /^\d{1,2}$/.test(text) ? Number(text) : 0
  if (jobs < 1 || jobs > 64) throw new InvalidArgumentError('It must be a whole number from 1 to 64.')
  return jobs
}

function parseLabel(text: string): string {
  const { length } = [...text]
  if (length < 1 || length > TOKEN_LABEL_CHARACTERS || /\p{Cc}/u.test(text))
    throw new InvalidArgumentError(`It must have 1 to ${TOKEN_LABEL_CHARACTERS} characters.`)
  return text
}

function parseTokenDays(text: string): number {
  const { min, max } = TOKEN_DAYS
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (days < min || days > max) throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  return days
}

function parseDays(text: string): number {
  const { min, max } = RETENTION_DAYS
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (days < min || days > max) throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  return days
}

function parseTimeout(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (seconds < 1 || seconds > TIMEOUT.max)
    throw new InvalidArgumentError(`It must be a whole number of seconds from 1 to ${TIMEOUT.max}.`)
  return seconds
}
