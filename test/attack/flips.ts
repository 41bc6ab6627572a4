import { mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TestRepository } from '#test/support/repository.ts'

/** What takes the place of a path, and gives it back, again and again. */
export interface Flip {
  path: string
  /** Lies here while `path` is as it should be. */
  evil: string
  /** Keeps what lay at `path`; unused where nothing did. */
  parked: string
}

/** A repository of the attacker, and what of a foreign one it wants. */
export interface FlipTarget {
  near: TestRepository
  far: TestRepository
  /** A blob of the foreign repository. */
  blob: string
}

/** Prepares the flips of an attack. */
export type FlipAttack = (target: FlipTarget) => Promise<Flip[]>

let prepared = 0

async function flipAt(path: string, prepare: (evil: string) => Promise<void>): Promise<Flip> {
  const [evil, parked] = [`evil-${prepared}`, `parked-${prepared++}`].map(name => join(dirname(path), `.${name}`)) as [
    string,
    string,
  ]
  await mkdir(dirname(path), { recursive: true })
  await prepare(evil)
  return { path, evil, parked }
}

/** The path becomes a link to the same path of the foreign repository. */
function linkTo(...paths: string[]): FlipAttack {
  return ({ near, far }) =>
    Promise.all(paths.map(path => flipAt(join(near.gitDir, path), evil => symlink(join(far.gitDir, path), evil))))
}

/** The path becomes a file of this text. */
function fileOf(path: string, textOf: (target: FlipTarget) => string): FlipAttack {
  return async target => [await flipAt(join(target.near.gitDir, path), evil => writeFile(evil, textOf(target)))]
}

const loosePath = (oid: string) => join('objects', oid.slice(0, 2), oid.slice(2))

/** The ways from one repository into another, by name. */
export const FLIP_ATTACKS: Readonly<Record<string, FlipAttack>> = {
  alternates: fileOf('objects/info/alternates', ({ far }) => `${join(far.gitDir, 'objects')}\n`),
  commondir: fileOf('commondir', ({ far }) => `${far.gitDir}\n`),
  objects: linkTo('objects'),
  'objects and refs': linkTo('objects', 'refs', 'packed-refs', 'HEAD'),
  'pack folder': linkTo('objects/pack'),
  'packed refs': linkTo('packed-refs', 'objects'),
  refs: linkTo('refs', 'objects/pack'),
  branches: linkTo('refs/heads', 'objects'),
  'a branch': linkTo('refs/heads/main', 'objects'),
  head: linkTo('HEAD', 'objects'),
  'a loose object': target => linkTo(loosePath(target.blob))(target),
  'a folder of loose objects': target => linkTo(dirname(loosePath(target.blob)))(target),
  async packs(target) {
    const names = await readdir(join(target.far.gitDir, 'objects/pack'))
    return linkTo(...names.filter(name => /\.(?:pack|idx)$/.test(name)).map(name => `objects/pack/${name}`))(target)
  },
  async 'its folder'({ near, far }) {
    return [await flipAt(near.gitDir, evil => symlink(far.gitDir, evil))]
  },
  async 'the folder of its owner'({ near, far }) {
    return [await flipAt(dirname(near.gitDir), evil => symlink(dirname(far.gitDir), evil))]
  },
  /** A working folder: its `.git` becomes a file. */
  async 'the file .git'({ near, far }) {
    const folder = near.gitDir.replace(/\.git$/, '')
    await mkdir(folder)
    await rename(near.gitDir, join(folder, '.git'))
    return [await flipAt(join(folder, '.git'), evil => writeFile(evil, `gitdir: ${far.gitDir}\n`))]
  },
}
