import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { imageCall } from '../../scripts/image.mjs'

const ROOT = join(import.meta.dirname, '..', '..')
const BASE = 'localhost/base'
const SOURCES = ['/etc/apt/sources.list', '/etc/apt/sources.list.d/debian.sources']
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

/** What the Dockerfile says of its containers. */
export interface ImageConfig {
  User: string
  Env: string[]
  Entrypoint: string[]
  Cmd: string[]
  WorkingDir: string
  Healthcheck: { Test: string[] }
}

/** An image whose files lie in a folder of this machine. */
export interface Image {
  config: ImageConfig
  /** Where its files are. */
  root: string
  /** Starts a program in it, as an engine does that is told to give no rights. @param env besides that of the image */
  run(command: readonly string[], env?: Readonly<Record<string, string>>): ChildProcess
  remove(): Promise<void>
}

/**
 * Builds the image of the Dockerfile without a container engine, upon Debian's packages and the Node of this process.
 *
 * @param pack packs the checkout into a folder
 */
export async function buildImage(pack: (folder: string) => Promise<unknown>): Promise<Image> {
  // On a disk: it takes more than the temporary files of the tests, which are in memory.
  const place = await mkdtemp('/var/tmp/mountglass-image-')
  const storage = join(place, 'storage.conf')
  // Without a driver, the best one that the kernel has here.
  await writeFile(storage, `[storage]\ndriver = ""\ngraphroot = "${place}/images"\nrunroot = "${place}/run"\n`)
  const env = { ...process.env, CONTAINERS_STORAGE_CONF: storage, BUILDAH_ISOLATION: 'chroot' }
  const buildah: Buildah = (...args) => run('buildah', args, env)
  const remove = async () => {
    // Folders that are mounted cannot be removed.
    await buildah('rm', '--all')
    await rm(place, { recursive: true, force: true })
  }
  try {
    const npm = await npmOfThisMachine()
    await Promise.all([makeBase(buildah, place, npm), pack(join(place, 'packed'))])
    const own = [`--volume=${npm.cache}:/root/.npm`, ...npm.configs.map(([here, there]) => `--volume=${here}:${there}:ro`)]
    const [program, ...args] = imageCall(join(place, 'packed'), ['--quiet', `--build-arg=BASE_IMAGE=${BASE}`, ...own]) ?? ['']
    await run(program, args, env)
    const container = await buildah('from', 'mountglass')
    const { Docker } = JSON.parse(await buildah('inspect', '--type=image', 'mountglass')) as { Docker: { config: ImageConfig } }
    const root = await buildah('mount', container)
    const writable = await makeWritable(place, Docker.config.User)
    const opened = { root, writable, config: Docker.config }
    return { ...opened, run: (command, given = {}) => start(opened, command, given), remove }
  } catch (error) {
    await remove()
    throw error
  }
}

type Buildah = (...args: string[]) => Promise<string>

async function makeBase(buildah: Buildah, place: string, npm: Npm): Promise<void> {
  const base = await buildah('from', 'scratch')
  await fillBase(await buildah('mount', base), place, npm)
  // What the set-up of the tests has fetched is not fetched again.
  await buildah('config', '--env=npm_config_prefer_offline=true', ...registryOf(process.env), base)
  await buildah('commit', '--quiet', '--rm', base, BASE)
}

interface Npm {
  folder: string
  cache: string
  /** Its files of settings, and where the npm of the image looks for them. */
  configs: [here: string, there: string][]
}

/** The npm that installed the packages, asked with the Node that it belongs to. */
async function npmOfThisMachine(): Promise<Npm> {
  const places = (process.env.PATH ?? '').split(delimiter).filter(path => !path.startsWith(ROOT))
  const env = { ...process.env, PATH: places.join(delimiter) }
  const ask = (...args: string[]) => run('npm', args, env)
  const [globals, cache, globalConfig, userConfig] = await Promise.all([
    ask('root', '--global'),
    ask('config', 'get', 'cache'),
    ask('config', 'get', 'globalconfig'),
    ask('config', 'get', 'userconfig'),
  ])
  const configs: Npm['configs'] = [
    [globalConfig, '/usr/local/etc/npmrc'],
    [userConfig, '/root/.npmrc'],
  ]
  await mkdir(cache, { recursive: true })
  return { folder: join(globals, 'npm'), cache, configs: configs.filter(([here]) => existsSync(here)) }
}

function registryOf(env: NodeJS.ProcessEnv): string[] {
  return env.npm_config_registry ? [`--env=npm_config_registry=${env.npm_config_registry}`] : []
}

/** A base like the one that the Dockerfile names: Debian, and Node with npm. @param root an empty folder */
async function fillBase(root: string, place: string, npm: Npm): Promise<void> {
  const release = /^VERSION_CODENAME=(\S+)$/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1] ?? 'stable'
  const settings = join(place, 'apt.conf')
  await writeFile(settings, await run('apt-config', ['dump', '--no-empty', 'Acquire']))
  const options = [
    '--mode=root',
    '--variant=apt',
    '--include=ca-certificates',
    '--dpkgopt=force-unsafe-io',
    `--aptopt=${settings}`,
  ]
  await run('mmdebstrap', ['--quiet', ...options, release, root, ...SOURCES.filter(existsSync)])
  await copyFile(CERTIFICATES, join(root, CERTIFICATES))
  await copyFile(process.execPath, join(root, 'usr', 'local', 'bin', 'node'))
  await cp(npm.folder, join(root, 'usr', 'local', 'lib', 'node_modules', 'npm'), { recursive: true })
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr', 'local', 'bin', 'npm'))
}

/** The folders that a container may write to. */
async function makeWritable(place: string, user: string): Promise<string> {
  const writable = join(place, 'writable')
  const [uid = 0, gid = 0] = user.split(':').map(Number)
  for (const name of ['data', 'tmp']) await mkdir(join(writable, name), { recursive: true })
  await chown(join(writable, 'data'), uid, gid)
  await chmod(join(writable, 'tmp'), 0o1777)
  return writable
}

/** Devices, processes and the writable folders over a root that nobody can write. All of it goes with its process. */
const MOUNTS = `mount --bind "$1" "$1" && mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" &&
  mount --bind "$2/data" "$1/data" && mount --bind "$2/tmp" "$1/tmp" && mount -o remount,bind,ro "$1" && shift 2 && exec "$@"`

interface Container {
  root: string
  writable: string
  config: ImageConfig
}

function start(
  { root, writable, config }: Container,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const [uid, gid] = config.User.split(':')
  const rights = [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--no-new-privs',
    '--inh-caps=-all',
    '--bounding-set=-all',
  ]
  const variables = [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
  const inside = ['chroot', root, 'setpriv', ...rights, 'env', '-i', `--chdir=${config.WorkingDir}`, ...variables, ...command]
  return spawn('unshare', ['--mount', 'sh', '-c', MOUNTS, 'sh', root, writable, ...inside], { stdio: ['ignore', 'pipe', 'pipe'] })
}

async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { env, cwd: '/', maxBuffer: 64 * 1024 * 1024 })
  return stdout.trim()
}
