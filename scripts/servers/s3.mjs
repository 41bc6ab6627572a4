/**
 * A real S3 server on this machine: the RADOS Gateway of Ceph over one storage daemon that keeps everything in memory.
 * It needs Debian's packages `radosgw ceph-mon ceph-osd`, no root, and a second or two to start.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.mjs'

const MEMORY_BYTES = 4 * 1024 ** 3
const ANSWER_MS = 30_000
const BUCKET = 'mountglass'

/** @type {import('./supervise.mjs').ServerKind} */
export const s3Server = {
  programs: ['ceph', 'ceph-mon', 'ceph-osd', 'monmaptool', 'radosgw', 'radosgw-admin'],
  packages: ['radosgw', 'ceph-mon', 'ceph-osd'],
  endSignal: 'SIGKILL',

  async start(folder, daemons) {
    const [gatewayPort, monitorPort] = [await freePort(), await freePort()]
    const ids = { cluster: randomUUID(), storage: randomUUID() }
    const config = join(folder, 'ceph.conf')
    for (const name of ['log', 'mon', 'osd', 'run']) await mkdir(join(folder, name))
    await writeFile(config, configuration({ folder, cluster: ids.cluster, gatewayPort, monitorPort }))

    const map = join(folder, 'monmap')
    const monitorAddress = `[v2:127.0.0.1:${monitorPort}]`
    await daemons.run('monmaptool', ['--create', '--addv', 'a', monitorAddress, '--fsid', ids.cluster, map])
    await daemons.run('ceph-mon', ['-c', config, '--mkfs', '-i', 'a', '--monmap', map])
    daemons.keep('ceph-mon', ['-c', config, '-f', '-i', 'a'])
    await daemons.run('ceph', ['-c', config, '--connect-timeout', '20', 'osd', 'new', ids.storage])
    await daemons.run('ceph-osd', ['-c', config, '-i', '0', '--mkfs', '--osd-uuid', ids.storage])
    daemons.keep('ceph-osd', ['-c', config, '-f', '-i', '0'])

    /** @param {string} name */
    const makeUser = async name => {
      const [id, secret] = [randomBytes(10).toString('hex'), randomBytes(20).toString('hex')]
      const user = [`--uid=${name}`, `--display-name=${name}`, `--access-key=${id}`, `--secret=${secret}`]
      await daemons.run('radosgw-admin', ['-c', config, 'user', 'create', ...user])
      return { id, secret }
    }
    // The first request waits for the storage daemon.
    const owner = await makeUser('mountglass')
    daemons.keep('radosgw', ['-c', config, '-f', '--name', 'client.rgw'])
    const env = {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${gatewayPort}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: owner.id,
      AWS_SECRET_ACCESS_KEY: owner.secret,
    }
    const [stranger] = await Promise.all([makeUser('stranger'), makeBucket(env, daemons)])
    const keys = [{ kid: '1', key: randomBytes(32).toString('base64url') }]
    return {
      ...env,
      MOUNTGLASS_STORE: `s3:${BUCKET}`,
      MOUNTGLASS_KEYS: JSON.stringify(keys),
      // A second user of the server, without access to the bucket.
      STRANGER_AWS_ACCESS_KEY_ID: stranger.id,
      STRANGER_AWS_SECRET_ACCESS_KEY: stranger.secret,
    }
  },
}

/**
 * Resolves once the gateway answers.
 *
 * @param {{ AWS_ENDPOINT_URL_S3: string, AWS_REGION: string, AWS_ACCESS_KEY_ID: string, AWS_SECRET_ACCESS_KEY: string }} env
 * @param {import('./supervise.mjs').Daemons} daemons
 */
async function makeBucket(env, daemons) {
  const { CreateBucketCommand, S3Client } = await import('@aws-sdk/client-s3')
  const client = new S3Client({
    endpoint: env.AWS_ENDPOINT_URL_S3,
    region: env.AWS_REGION,
    credentials: { accessKeyId: env.AWS_ACCESS_KEY_ID, secretAccessKey: env.AWS_SECRET_ACCESS_KEY },
    forcePathStyle: true,
    maxAttempts: 1,
  })
  try {
    for (const deadline = Date.now() + ANSWER_MS; ; await sleep(25)) {
      daemons.requireAlive()
      try {
        await client.send(new CreateBucketCommand({ Bucket: BUCKET }), { abortSignal: AbortSignal.timeout(ANSWER_MS) })
        return
      } catch (cause) {
        if (Date.now() > deadline) throw new Error('the gateway does not answer', { cause })
      }
    }
  } finally {
    client.destroy()
  }
}

/** @param {{ folder: string, cluster: string, gatewayPort: number, monitorPort: number }} place */
function configuration({ folder, cluster, gatewayPort, monitorPort }) {
  return `[global]
fsid = ${cluster}
mon host = [v2:127.0.0.1:${monitorPort}]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv4 = true
ms bind ipv6 = false
auth cluster required = none
auth service required = none
auth client required = none
# By default the gateway requires an encrypted connection to the monitor, which needs keys. Without keys it would search for the
# monitor forever, without a message.
ms mon client mode = crc secure
run dir = ${folder}/run
crash dir = ${folder}/run
log file = ${folder}/log/$name.log
# The path of a socket is limited to 107 characters, and the admin sockets are not used.
admin socket =
# One copy of everything, on one daemon.
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000

[mon]
mon data = ${folder}/mon
mon cluster log file = ${folder}/log/cluster.log
# The gateway creates its pools one by one at its first start; with the defaults each takes two seconds.
paxos propose interval = 0.05
paxos min wait = 0.01
# A nearly full disk must not prevent the start.
mon data avail warn = 1
mon data avail crit = 0

[osd]
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = ${MEMORY_BYTES}
osd class load list = *
osd class default list = *
osd op num shards = 2

[client]
rgw data = ${folder}/run
# Without nodelay every answer with a body waits 40 ms for an acknowledgement.
rgw frontends = beast endpoint=127.0.0.1:${gatewayPort} tcp_nodelay=1
rgw thread pool size = 64
rgw enable usage log = false
rgw enable ops log = false
rgw override bucket index max shards = 1
rgw dynamic resharding = false
rgw gc obj min wait = 60
`
}
