import { readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { escapeHidden, printable } from '#core/hidden-text.ts'
import { messageIn, SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { type Answers, type AnswersInContext, UnansweredError, type Waiting } from './answers.ts'
import { exitCodeOf, judge, type Problem, type Reading, type Verdict } from './lock/compare-pins.ts'
import {
  emptyLock,
  formatLockFile,
  LOCK_FILE,
  type LockFile,
  LockFileError,
  type PinnedAddress,
  parseLockFile,
} from './lock/lock-file.ts'
import { readPin } from './lock/read-pin.ts'
import { formatPin, formatVerdicts, pinnedAddress } from './lock/report.ts'
import { readTypedPin } from './lock/typed-pin.ts'
import { say } from './say.ts'
import { namedService, openService } from './service.ts'
import { columnsOfOutput, paint, printLines } from './terminal.ts'

export interface PinOptions {
  /** Base URL of a running deployment. Default: `MOUNTGLASS_SERVICE`, else this process reads the repositories itself. */
  service?: string
  /** Seconds to wait for the index of an address. */
  timeout: number
  /** Print one JSON document. */
  json?: boolean
}

const EXIT_OK = 0
/** An address, the lock file or a setting is wrong. */
const EXIT_USAGE = 2
/** An address could not be read now. */
const EXIT_UNREAD = 3

/**
 * `mountglass pin <address>…`: writes the commits and digests of the addresses into a lock file, beside those that it has. Nothing is written
 * unless all of them can be read. Exit code 0, 2 (wrong address, lock file or setting) or 3 (an address cannot be read now).
 */
export async function pin(typed: string[], options: PinOptions & { lock?: string }, env: NodeJS.ProcessEnv): Promise<number> {
  const file = options.lock ?? LOCK_FILE
  return await reportingFaults(file, async () => {
    const lock = (await readLock(file)) ?? emptyLock()
    const pins = await withAnswers(options, env, async ({ answers, context }) => {
      const wanted = typed.map(text => readTypedPin(text, context))
      const read: { asked: string; pinned: PinnedAddress }[] = []
      for (const candidates of wanted) read.push(await readFirst(answers, candidates, waitingOf(options)))
      return read
    })
    const byAddress = new Map([...lock.addresses, ...pins.map(({ pinned }) => pinned)].map(one => [one.address, one]))
    const addresses = [...byAddress.values()]
    await writeLock(file, { ...lock, addresses })
    if (options.json)
      printJson({ format: 1, lock: file, pinned: pins.map(({ pinned }) => ({ ...pinned, pinned: pinnedAddress(pinned) })) })
    else
      print([
        ...pins.flatMap(({ asked, pinned }) => formatPin(pinned, asked, written())),
        '',
        t('pin.pinned', { file, n: addresses.length }),
      ])
    return EXIT_OK
  })
}

export interface VerifyOptions extends PinOptions {
  /** Write what the addresses have now, after showing it. */
  update?: boolean
  /** A commit that moved without changing what agents read is no difference. */
  allowMoved?: boolean
}

/**
 * `mountglass verify [<lock file>]`, or with `--lock <file>` as for `pin`: compares what the addresses of a lock file have now with their
 * pins. Exit code 0, 1 (a difference that `--update` did not write), 2 (no usable lock file, or a wrong
 * setting) or 3 (no difference, but an address could not be read).
 */
export async function verify(
  named: string | undefined,
  options: VerifyOptions & { lock?: string },
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const file = named ?? options.lock ?? LOCK_FILE
  return await reportingFaults(file, async () => {
    const lock = await readLock(file)
    if (lock === null) throw new LockFileError(t('problem.lockMissing'))
    const readings = await withAnswers(options, env, async ({ answers }) => {
      const read: Reading[] = []
      for (const { address } of lock.addresses) read.push(await tryToRead(answers, address, waitingOf(options)))
      return read
    })
    const verdicts = lock.addresses.map((pinned, index) => judge(pinned, readings[index] as Reading))
    const exitCode = exitCodeOf(verdicts, options.allowMoved === true)
    const updated = updatedLock(lock, readings)
    const isOutdated = formatLockFile(updated) !== formatLockFile(lock)
    const isWritten = options.update === true && isOutdated
    if (options.json) printJson({ format: 1, lock: file, written: isWritten, addresses: verdicts })
    else print(formatVerdicts(verdicts, written(), namedService(options.service, env)?.url))
    if (isWritten) await writeLock(file, updated)
    if (!options.json && isWritten) print([t('verify.written', { file })])
    // What `--update` would keep, such as a repository that may only be hidden, it does not accept.
    if (!options.json && !options.update && isOutdated && exitCode === 1)
      printLines([{ said: t('verify.accept'), command: `mountglass verify --update${file === LOCK_FILE ? '' : ` ${file}`}` }])
    return options.update && exitCode === 1 ? exitCodeOf(verdicts.filter(isKept), false) : exitCode
  })
}

/** Whether `--update` keeps the pin of the address as it is: nothing is known about its present state. */
function isKept(verdict: Verdict): boolean {
  return verdict.status === 'unverified' || (verdict.status === 'gone' && mayBeHidden(verdict.error))
}

/** A repository that does not exist is answered like one that is not shown, for example since a token is missing. */
function mayBeHidden({ code }: Problem): boolean {
  return code === 'mount.repo_not_found'
}

/**
 * Addresses whose branch or folder is gone are left out. Those that could not be read, or may be hidden, stay as they are, and so do skills that
 * a partial index may have dropped.
 */
function updatedLock(lock: LockFile, readings: readonly Reading[]): LockFile {
  const addresses = lock.addresses.flatMap((pinned, index): PinnedAddress[] => {
    const reading = readings[index] as Reading
    if ('error' in reading) return reading.isGone && !mayBeHidden(reading.error) ? [] : [pinned]
    const verdict = judge(pinned, reading)
    const unknown = new Set(verdict.status === 'different' ? verdict.unknown : [])
    if (verdict.status === 'unverified') return [pinned]
    return [{ ...reading.pin, skills: [...reading.pin.skills, ...pinned.skills.filter(({ path }) => unknown.has(path))] }]
  })
  return { ...lock, addresses }
}

async function tryToRead(answers: Answers, address: string, waiting: Waiting): Promise<Reading> {
  try {
    return { pin: await readPin(answers, address, waiting) }
  } catch (error) {
    if (!(error instanceof UnansweredError)) throw error
    return { error: { code: error.code, message: error.message }, isGone: error.isGone }
  }
}

/** The first of the addresses whose ref exists. @throws UnansweredError that names the first */
async function readFirst(answers: Answers, candidates: readonly string[], waiting: Waiting) {
  const missing: UnansweredError[] = []
  for (const address of candidates) {
    try {
      return { asked: address, pinned: await readPin(answers, address, waiting) }
    } catch (error) {
      if (!(error instanceof UnansweredError)) throw error
      const named = new UnansweredError(error.code, t('problem.ofText', { text: address, problem: error }), { cause: error })
      if (error.code !== 'mount.ref_not_found') throw named
      missing.push(named)
    }
  }
  throw missing[0] ?? new Error('no address was given')
}

async function withAnswers<Value>(
  options: PinOptions,
  env: NodeJS.ProcessEnv,
  use: (answers: AnswersInContext) => Promise<Value>,
): Promise<Value> {
  const service = namedService(options.service, env)
  if (service !== null) return await use(openService(service, env))
  // Two thirds of a start go into loading this. A deployment is asked without it.
  const { openInProcessAnswers } = await import('./in-process.ts')
  const { close, ...own } = await openInProcessAnswers(env)
  try {
    return await use(own)
  } finally {
    await close()
  }
}

function waitingOf({ timeout }: PinOptions): Waiting {
  return { timeoutMs: timeout * 1000, onWaiting: address => say(t('pin.indexing', { address })) }
}

/** `null`: there is none. @throws LockFileError */
async function readLock(file: string): Promise<LockFile | null> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    throw new LockFileError(t('problem.lockUnreadable', { reason: message }), { cause })
  }
  return parseLockFile(text)
}

/** Replaces the file as a whole, so that no reader finds half of it. */
async function writeLock(file: string, lock: LockFile): Promise<void> {
  const target = await realpath(file).catch(() => file)
  const temporary = `${target}.${process.pid}.tmp`
  try {
    await writeFile(temporary, formatLockFile(lock))
    await rename(temporary, target)
  } catch (cause) {
    await rm(temporary, { force: true })
    throw new LockFileError(t('problem.lockNotWritten', { reason: (cause as Error).message }), { cause })
  }
}

/** @param file of the messages about lock files */
async function reportingFaults(file: string, run: () => Promise<number>): Promise<number> {
  try {
    return await run()
  } catch (error) {
    const message = messageIn(error)
    if (error instanceof LockFileError) say(printable(`${file} ${message}`))
    else if (error instanceof UnansweredError) say(printable(`${error.code}: ${message}`))
    else if (error instanceof SentenceError) say(printable(message))
    else throw error
    return error instanceof UnansweredError && !error.isGone ? EXIT_UNREAD : EXIT_USAGE
  }
}

function written() {
  return { paint, width: columnsOfOutput() }
}

function print(lines: readonly string[]): void {
  process.stdout.write(lines.map(line => `${line}\n`).join(''))
}

function printJson(value: object): void {
  process.stdout.write(`${escapeHidden(JSON.stringify(value, null, 2))}\n`)
}
