/** Whether `node_modules` holds what the lock file says, and what to run when it does not. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runQuietly } from './step.mjs'

/**
 * Compares the lock file with npm's own record of what it installed.
 *
 * Optional packages may be absent: they are for other platforms. Only those that the project itself names, and that fit this
 * platform, are asked for. A package in another version is outdated. npm writes its record last, so an install that was cut
 * short has none and is repeated.
 *
 * @param {{ packages: Record<string, LockEntry> }} lock `package-lock.json`
 * @param {{ packages: Record<string, LockEntry> } | null} installed `node_modules/.package-lock.json`, `null` when absent
 * @param {{ withDev: boolean, platform: string, arch: string }} wanted without development packages is enough to start
 * @returns {'nothing' | 'add' | 'clean'} `add` when all that is there is right, so that a running program keeps its files
 *
 * @typedef {{ version?: string, optionalDependencies?: Record<string, string>, dev?: boolean, optional?: boolean, devOptional?: boolean, os?: string[] | string, cpu?: string[] | string }} LockEntry
 */
export function decideInstall(lock, installed, wanted) {
  if (installed === null) return 'clean'
  const named = lock.packages['']?.optionalDependencies ?? {}
  let isComplete = true
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === '') continue
    const present = installed.packages[path]
    if (present !== undefined && present.version !== entry.version) return 'clean'
    if (present === undefined && isWanted(path, entry, named, wanted)) isComplete = false
  }
  return isComplete ? 'nothing' : 'add'
}

/**
 * @param {string} path
 * @param {LockEntry} entry
 * @param {Record<string, string>} named
 * @param {{ withDev: boolean, platform: string, arch: string }} wanted
 */
function isWanted(path, entry, named, { withDev, platform, arch }) {
  if (!withDev && (entry.dev || entry.devOptional)) return false
  if (!entry.optional && !entry.devOptional) return true
  return path.replace('node_modules/', '') in named && fits(entry.os, platform) && fits(entry.cpu, arch)
}

/**
 * @param {string[] | string | undefined} names
 * @param {string} own
 */
function fits(names, own) {
  return names === undefined || [names].flat().includes(own)
}

/**
 * @param {string} root the checkout
 * @param {boolean} withDev
 */
export async function readInstallDecision(root, withDev) {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  const record = await readFile(join(root, 'node_modules', '.package-lock.json'), 'utf8').catch(() => null)
  return decideInstall(lock, record === null ? null : JSON.parse(record), {
    withDev,
    platform: process.platform,
    arch: process.arch,
  })
}

/**
 * Installs exactly what the lock file says, with integrity checked; the lock file is never written. Development packages come
 * too: leaving them out saves a few seconds, and would take them away from a checkout that has them.
 *
 * @param {string} root the checkout
 * @param {'add' | 'clean'} decision
 * @throws StepError with npm's own words
 */
export async function installPackages(root, decision) {
  const command = decision === 'clean' ? ['ci'] : ['install', '--no-save']
  const options = ['--include=dev', '--include=optional', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
  // Under `npm start` this is the npm that is running, on the Node it is running on.
  const npm = process.env.npm_execpath
  const [program, first] = npm?.endsWith('.js') ? [process.env.npm_node_execpath ?? process.execPath, [npm]] : ['npm', []]
  await runQuietly(program, [...first, ...command, ...options], {
    cwd: root,
    shell: program === 'npm' && process.platform === 'win32',
  })
}
