import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { MIT } from '#test/api/support/texts.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { endpointUrl, type TestApp, testApp } from '#test/support/test-app.ts'
import { startFlipping } from './flipping.ts'
import { FLIP_ATTACKS, type Flip, type FlipAttack } from './flips.ts'

export interface FlipOptions {
  /** How long links are flipped. */
  seconds: number
  /** The requests go on until there were at least so many. */
  requests: number
  /** Names of `FLIP_ATTACKS`; default: all of them, at once. */
  attacks?: readonly string[]
}

export interface FlipReport {
  requests: number
  flips: number
  /** Answers by status. */
  statuses: Record<string, number>
  /** Commits that were indexed meanwhile. */
  indexed: number
  /** Where something of the foreign repositories was seen. */
  leaks: string[]
}

/** In the name, the text and the description of everything foreign, in a form that survives the analysis of search terms. */
const MARKER = 'zqforeignzq'
const SKILL = 'skills/one/SKILL.md'
/** Commits of each attacker that hold a foreign blob: each is indexed once, so each is one chance. */
const BORROWING = 40
const CLIENTS = 8

/**
 * Attackers flip links from their local repositories into foreign ones while clients ask for everything. Nothing foreign may be in an
 * answer or in the store, and no answer may be a fault of the service.
 */
export async function flipLinks({ seconds, requests, attacks = Object.keys(FLIP_ATTACKS) }: FlipOptions): Promise<FlipReport> {
  const outside = await createRepositories()
  const app = await testApp({})
  try {
    const sides = await Promise.all(
      attacks.map(name => prepareSide(app, outside, FLIP_ATTACKS[name] as FlipAttack, attacks.indexOf(name))),
    )
    const foreign = new Set([MARKER, ...sides.map(({ secret }) => secret)])
    const report: FlipReport = { requests: 0, flips: 0, statuses: {}, indexed: 0, leaks: [] }
    const stop = startFlipping(sides.flatMap(({ flips }) => flips))
    const until = Date.now() + seconds * 1000
    const isOver = () => Date.now() > until && report.requests >= requests
    const clients = Array.from({ length: CLIENTS }, () => askUntil(app, sides, isOver, foreign, report))
    await Promise.all([...clients, indexUntil(app, isOver, report)])
    report.flips = await stop()
    await searchStore(app.blobs, foreign, report.leaks)
    return report
  } finally {
    await app.close()
    await outside.remove()
  }
}

interface Side {
  near: TestRepository
  flips: Flip[]
  /** The foreign commit. */
  secret: string
  /** Commits of the attacker that hold a foreign blob. */
  borrowing: string[]
}

async function prepareSide(app: TestApp, outside: TestRepositories, attack: FlipAttack, index: number): Promise<Side> {
  const far = await outside.create(`owner-${index}`, 'tools')
  const skill = `---\nname: one\ndescription: A ${MARKER} skill.\n---\n# ${MARKER}\n\nThe ${MARKER} text ${index}.\n`
  const secret = await far.commit({ LICENSE: MIT, [SKILL]: skill, [`docs/${MARKER}.md`]: `# ${MARKER}\n` })
  const blob = await far.oidAt(secret, SKILL)
  // Loose, and in a pack.
  await far.git('repack', '-aq')
  await far.git('pack-refs', '--all', '--no-prune')
  await far.git('update-ref', '--no-deref', 'HEAD', secret)

  const near = await app.repositories.create(`owner-${index}`, 'tools')
  await near.commit({ LICENSE: MIT, 'README.md': `# Own ${index}\n`, [SKILL]: '---\nname: one\ndescription: Own.\n---\nOwn.\n' })
  const borrowing = await borrow(near, blob)
  await near.git('update-ref', 'refs/tags/own', 'refs/heads/main')
  await writeFile(join(near.gitDir, 'refs/heads/stolen'), `${secret}\n`)
  return { near, secret, borrowing, flips: await attack({ near, far, blob }) }
}

/** Commits with a blob that the repository does not have. */
async function borrow(near: TestRepository, blob: string): Promise<string[]> {
  const license = await near.writeBlob(MIT)
  const folder = await near.rawTree([{ mode: '100644', name: 'SKILL.md', oid: blob }])
  const skills = await near.rawTree([{ mode: '40000', name: 'one', oid: folder }])
  const commits: string[] = []
  for (let index = 0; index < BORROWING; index++) {
    const note = await near.writeBlob(`Note ${index}\n`)
    const tree = await near.rawTree([
      { mode: '100644', name: 'LICENSE', oid: license },
      { mode: '100644', name: 'note.md', oid: note },
      { mode: '40000', name: 'skills', oid: skills },
    ])
    commits.push(await near.commitTree(tree, { branch: `borrow-${index}`, parent: null }))
  }
  return commits
}

async function askUntil(
  app: TestApp,
  sides: readonly Side[],
  isOver: () => boolean,
  foreign: ReadonlySet<string>,
  report: FlipReport,
): Promise<void> {
  while (!isOver()) {
    const side = pick(sides)
    const url = urlAt(side)
    const { status, body } = await app.get(url)
    report.requests++
    report.statuses[status] = (report.statuses[status] ?? 0) + 1
    const shown = url.includes(side.secret) && status !== 200 ? body.replaceAll(side.secret, '') : body
    for (const word of foreign) if (shown.includes(word)) report.leaks.push(`${status} ${url}: ${word}`)
  }
}

function urlAt({ near, secret, borrowing }: Side): string {
  const commit = pick(borrowing)
  const address = `/local/${near.owner}/${near.name}${pick(['', '@stolen', '@own', '@main', `@${secret}`, `@${commit}`, `@${commit}`])}`
  return pick([
    endpointUrl('mounts', address),
    endpointUrl('browse', address),
    endpointUrl('find', address, { query: 'skill' }),
    endpointUrl('skills', address, { path: SKILL }),
    endpointUrl('files', address, { path: SKILL }),
    `/git/local/${near.owner}/${near.name}/raw/${pick([commit, commit, secret])}/${SKILL}`,
  ])
}

function pick<Item>(items: readonly Item[]): Item {
  return items[Math.floor(Math.random() * items.length)] as Item
}

async function indexUntil(app: TestApp, isOver: () => boolean, report: FlipReport): Promise<void> {
  while (!isOver()) {
    report.indexed += await app.index()
    await new Promise(resolve => setImmediate(resolve))
  }
}

/** Searches everything that is stored, also what is compressed. */
async function searchStore(blobs: BlobStore, foreign: ReadonlySet<string>, leaks: string[]): Promise<void> {
  for (const key of await blobs.list('')) {
    const bytes = Buffer.from((await blobs.read(key))?.bytes ?? [])
    const texts = [bytes, ...membersOf(bytes)].map(part => part.toString('latin1'))
    for (const word of foreign) if (texts.some(one => one.includes(word)) || key.includes(word)) leaks.push(`${key}: ${word}`)
  }
}

const GZIP = Buffer.from([0x1f, 0x8b, 0x08])

/** The contents of the gzip members in an object. */
function* membersOf(bytes: Buffer): Generator<Buffer> {
  for (let at = bytes.indexOf(GZIP); at >= 0; at = bytes.indexOf(GZIP, at + 1)) {
    try {
      yield gunzipSync(bytes.subarray(at))
    } catch {
      // The bytes only look like a member.
    }
  }
}
