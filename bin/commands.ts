import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { RETENTION_DAYS } from '#core/limits.ts'
import manifest from '../package.json' with { type: 'json' }

/**
 * The commands of `mountglass`. Each loads its program only when it is called, so that `--help` costs nothing.
 *
 * @param argv as `process.argv`
 * @param env settings, read by the program that is started
 */
export async function runCommands(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const program = new Command('mountglass')
    .description(manifest.description)
    .version(manifest.version)
    .showHelpAfterError()
    .exitOverride()

  program
    .command('serve')
    .description('answer the API and the pages of this deployment')
    .action(async () => {
      const { serve } = await import('#api/main.ts')
      await serve(env)
    })

  program
    .command('work')
    .description('index what a deployment asks for, until stopped')
    .option('--concurrency <jobs>', 'jobs at once, 1 to 64, each in a process of its own', parseConcurrency, 1)
    .action(async (options: { concurrency: number }) => {
      const { work } = await import('#indexer/commands/work.ts')
      await work(env, options)
    })

  program
    .command('index')
    .description('index one address and exit')
    .argument('<address>', 'for example /local/acme/handbook@main/skills')
    .option('--store <store>', 'where the snapshot is kept, for example disk:.mountglass')
    .action(async (address: string, options: { store?: string }) => {
      const { indexAddress } = await import('#indexer/commands/index-address.ts')
      process.exitCode = await indexAddress(address, options, env)
    })

  program
    .command('check')
    .description('show what agents would get of a working folder, uncommitted files included')
    .argument('[folder]', 'a repository or a folder of one', '.')
    .option('--json', 'print one JSON document')
    .option('--watch', 'check again on every change')
    .option('--private', 'as a private repository, which serves everything whatever the license')
    .option('--all', 'cut no list')
    .action(async (folder: string, options: { json?: boolean; watch?: boolean; private?: boolean; all?: boolean }) => {
      const { checkFolder } = await import('#indexer/commands/check-folder.ts')
      process.exitCode = await checkFolder(folder, options)
    })

  program
    .command('sweep')
    .description('tell what of a store nobody uses any more, and remove it when asked to')
    .option('--store <store>', 'what is swept, for example disk:.mountglass')
    .option('--days <days>', 'after which a snapshot that nobody opened goes', parseDays, RETENTION_DAYS.default)
    .option('--remove', 'remove it; else nothing is changed')
    .action(async (options: { store?: string; days: number; remove?: boolean }) => {
      const { sweep } = await import('#indexer/commands/sweep.ts')
      process.exitCode = await sweep(options, env)
    })

  try {
    await program.parseAsync(argv)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Wrong use is 2 everywhere: 1 says that a command did what it was asked and found something wrong.
    process.exitCode = error.exitCode === 0 ? 0 : 2
  }
}

function parseConcurrency(text: string): number {
  const jobs = /^\d{1,2}$/.test(text) ? Number(text) : 0
  if (jobs < 1 || jobs > 64) throw new InvalidArgumentError('It must be a whole number from 1 to 64.')
  return jobs
}

function parseDays(text: string): number {
  const { min, max } = RETENTION_DAYS
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (days < min || days > max) throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  return days
}
