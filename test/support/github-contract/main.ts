/**
 * Asks the real GitHub what the stand-in of the tests is asked, and prints where it answers otherwise. It changes nothing there.
 *
 *   npm run contract:github -- [--dry-run] [--repository octocat/Hello-World --branch master --tag v1 --file README --renamed octocat/Old …]
 *
 * The host and an optional token are those of the settings: MOUNTGLASS_GITHUB_URL, _API_URL and _TOKEN. For a maintainer with a
 * network; not part of the tests.
 */
import { parseArgs } from 'node:util'
import { parseInfraSettings } from '#infra/infra-settings.ts'
import type { Probe, Subjects } from './probe.ts'
import { REAL_SUBJECTS } from './probes.ts'
import { HostNotReached, listProbes, type ProbeResult, runProbes } from './run.ts'

const USAGE = `usage: npm run contract:github -- [options]
  --dry-run                 print what would be asked, and ask nothing
  --repository owner/name   a public repository (${REAL_SUBJECTS.owner}/${REAL_SUBJECTS.repository})
  --branch name             one of its branches (${REAL_SUBJECTS.branch})
  --tag name                one of its tags; without one, tags are left out
  --file name               a file at the root of the branch (${REAL_SUBJECTS.file})
  --renamed owner/name      a name that a public repository had before
  --blocked owner/name      a repository that a takedown blocks
  --large owner/name        a repository with more than 100,000 files
  --token-sees what         public or private: what a fine-grained token sees
  --in-ci                   also where the variable CI is set
`

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    repository: { type: 'string', default: `${REAL_SUBJECTS.owner}/${REAL_SUBJECTS.repository}` },
    branch: { type: 'string', default: REAL_SUBJECTS.branch },
    tag: { type: 'string', default: REAL_SUBJECTS.tag },
    file: { type: 'string', default: REAL_SUBJECTS.file },
    renamed: { type: 'string', default: '' },
    blocked: { type: 'string', default: '' },
    large: { type: 'string', default: '' },
    'token-sees': { type: 'string', default: '' },
    'in-ci': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

process.exitCode = await main()

/** 0: no differences; 1: some; 2: nothing was asked. */
async function main(): Promise<number> {
  const [owner = '', repository = '', more] = values.repository.split('/')
  const sees = values['token-sees']
  if (values.help || !owner || !repository || more !== undefined || !isSight(sees)) {
    process.stderr.write(USAGE)
    return values.help ? 0 : 2
  }
  if (process.env.CI && !values['in-ci']) {
    process.stderr.write('this asks a host of the internet, so it does not run where CI is set; --in-ci runs it all the same\n')
    return 2
  }
  const host = parseInfraSettings({ ...process.env, MOUNTGLASS_GITHUB: 'on' }).github
  if (host === null) return 2
  const { branch, tag, file, renamed, blocked, large } = values
  const subjects: Subjects = { owner, repository, branch, tag, file, renamed, blocked, large, sees }
  if (values['dry-run']) {
    for (const { probe, asked } of listProbes(host, subjects)) print(probe, asked ?? 'left out', [])
    return 0
  }
  try {
    return await report(runProbes(host, subjects))
  } catch (error) {
    if (!(error instanceof HostNotReached)) throw error
    process.stderr.write(`${host.apiUrl} was not reached, so nothing was compared: ${error.message}\n`)
    return 2
  }
}

function isSight(text: string): text is Subjects['sees'] {
  return ['', 'public', 'private'].includes(text)
}

async function report(results: AsyncIterable<ProbeResult>): Promise<number> {
  let asked = 0
  let different = 0
  for await (const result of results) {
    if (result.asked !== null) asked++
    if (result.differences.length > 0) different++
    print(
      result.probe,
      result.asked === null ? 'left out' : result.differences.length > 0 ? 'DIFFERENT' : 'as expected',
      result.differences,
    )
  }
  process.stdout.write(`${asked} asked, ${different} different\n`)
  return different > 0 ? 1 : 0
}

function print({ name }: Probe, result: string, differences: readonly string[]): void {
  process.stdout.write(`${name}: ${result}\n${differences.map(difference => `  ${difference}\n`).join('')}`)
}
