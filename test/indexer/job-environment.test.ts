import { readFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { JOB_PROGRAM } from '#cli/runners.ts'
import { SHORT_JOB_NICENESS } from '#core/concurrency/priority.ts'
import { NO_METRICS } from '#core/ports/metrics.ts'
import { jobEnvironment, startJobProcess } from '#indexer/jobs/job-process.ts'
import { NO_HANDOVER } from '#test/support/no-handover.ts'
import { temporaryFolder } from '#test/support/store-drivers.ts'

/** Secrets of the service and of the machine, some of which nobody has thought of yet. */
const SECRETS = {
  MOUNTGLASS_KEYS: 'not for jobs',
  MOUNTGLASS_ID_KEY: 'not for jobs',
  MOUNTGLASS_GITHUB_WEBHOOK_SECRET: 'not for jobs',
  MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: 'not for jobs',
  MOUNTGLASS_GITHUB_APP_CLIENT_SECRET: 'not for jobs',
  MOUNTGLASS_ADDED_LATER: 'not for jobs',
  SMTP_PASSWORD: 'not for jobs',
  AWS_SECRET_ACCESS_KEY: 'not for jobs',
  PGPASSWORD: 'not for jobs',
}

test('a job process gets no secret of the service, and has a lower priority', async () => {
  const folder = await temporaryFolder()
  const process = await startJobProcess(
    {
      program: JOB_PROGRAM,
      env: {
        ...SECRETS,
        PATH: globalThis.process.env.PATH,
        MOUNTGLASS_STORE: `disk:${join(folder, 'store')}`,
        MOUNTGLASS_LOCAL_REPOSITORIES: folder,
        MOUNTGLASS_GITHUB: 'off',
      },
      handover: () => NO_HANDOVER,
      memoryMegabytes: 1_024,
      metrics: NO_METRICS,
    },
    new AbortController().signal,
  )
  onTestFinished(() => process.end('stopped'))
  expect(getPriority(process.pid), 'answers of the service come first').toBe(Math.max(getPriority(), SHORT_JOB_NICENESS))
  const names = (await readFile(`/proc/${process.pid}/environ`, 'utf8')).split('\0').map(line => line.split('=')[0])
  expect(names).toContain('MOUNTGLASS_STORE')
  expect(names.filter(name => name !== undefined && name in SECRETS)).toEqual([])
})

test('a job process gets the settings of its store, its host and its network, and none of a store that it does not open', () => {
  const common = {
    PATH: '/bin',
    https_proxy: 'http://proxy',
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    TZ: 'UTC',
    XDG_DATA_HOME: '/data',
    MOUNTGLASS_GITHUB_TOKEN: 't',
  }
  const bucket = { AWS_REGION: 'r', AWS_WEB_IDENTITY_TOKEN_FILE: '/token', MOUNTGLASS_PRIVATE_AWS_ACCESS_KEY_ID: 'i' }
  const database = { PGPASSWORD: 'p', PGSSLROOTCERT: '/root.pem' }
  const all = { ...common, ...bucket, ...database, OTHER: 'o' }
  const [disk, s3, url] = ['disk:/store', 's3:bucket', 'postgres://host/db']
  expect(jobEnvironment({ ...all, MOUNTGLASS_STORE: disk })).toEqual({ ...common, MOUNTGLASS_STORE: disk })
  expect(jobEnvironment({ ...all, MOUNTGLASS_STORE: s3 })).toEqual({ ...common, ...bucket, MOUNTGLASS_STORE: s3 })
  expect(jobEnvironment({ ...all, MOUNTGLASS_DATABASE: url })).toEqual({ ...common, ...database, MOUNTGLASS_DATABASE: url })
})

test('a job process receives every setting of stores and hosts, except the secrets that only the service needs', async () => {
  const source = await readFile(new URL('../../infra/infra-settings.ts', import.meta.url), 'utf8')
  const names = [...new Set(source.match(/\b(?:MOUNTGLASS|AWS)_[A-Z0-9_]+(?=: )/g))]
  expect(names.length).toBeGreaterThan(12)
  const given = Object.fromEntries(names.map(name => [name, 'x']))
  const received = jobEnvironment({ ...given, MOUNTGLASS_STORE: 's3:bucket' })
  // A job receives a token of the App for its repository, and never the key.
  const ofService = /^MOUNTGLASS_GITHUB_(?:WEBHOOK_SECRET|APP_[A-Z_]+)$/
  expect(names.filter(name => !(name in received) !== ofService.test(name))).toEqual([])
})
