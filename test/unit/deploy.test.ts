import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { parseSettings } from '#cli/service-settings.ts'
import { parseWorkerSettings } from '#indexer/jobs/worker-settings.ts'
import { parseSharedInfraSettings } from '#infra/infra-settings.ts'
import packageManifest from '../../package.json' with { type: 'json' }

/** No container engine and no cluster run in the tests: what is deployed there is held to what the sources say. */

const ROOT = join(import.meta.dirname, '..', '..')
const DEPLOY = join(ROOT, 'infra', 'deploy')
const KUBERNETES = join(DEPLOY, 'kubernetes')

const read = (...path: string[]) => readFile(join(...path), 'utf8')

/** What an operator fills in. */
const SECRETS: Record<string, string> = {
  MOUNTGLASS_KEYS: JSON.stringify([{ kid: '1', key: Buffer.alloc(32, 7).toString('base64url') }]),
  MOUNTGLASS_DATABASE: 'postgres://mountglass:secret@documents.example.org:5432/mountglass',
  MOUNTGLASS_GITHUB_TOKEN: 'token',
  MOUNTGLASS_GITHUB_WEBHOOK_SECRET: 'a-secret-of-our-own',
  MOUNTGLASS_BASE_URL: 'https://skills.example.org',
  POSTGRES_PASSWORD: 'secret',
  S3_SECRET_KEY: 'secret',
}

const SETTINGS = new Set(
  (
    await Promise.all(
      ['core/settings.ts', 'infra/infra-settings.ts', 'cli/service-settings.ts', 'indexer/jobs/worker-settings.ts'].map(path =>
        read(ROOT, path),
      ),
    )
  ).flatMap(text => text.match(/\b(MOUNTGLASS_[A-Z_]+|HOST|PORT)\b/g) ?? []),
)
/** Read by the AWS SDK itself. */
const SDK_VARIABLES = ['AWS_REGION', 'AWS_ENDPOINT_URL_S3', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']

/** Every variable is one that something reads, and the command starts with them. */
function requireSettings(command: string, env: Record<string, string>): void {
  for (const name of Object.keys(env)) expect([...SETTINGS, ...SDK_VARIABLES, 'NODE_ENV'], `${command}: ${name}`).toContain(name)
  const infra = parseSharedInfraSettings(env)
  expect(infra.store.kind).toBe('s3')
  if (command === 'serve') expect(parseSettings(env)).toMatchObject({ indexer: 'none', keys: [{ kid: '1' }] })
  if (command === 'work') expect(parseWorkerSettings(env).monitoring).not.toBeNull()
}

interface ComposeService {
  image: string
  command?: string[]
  environment?: Record<string, string>
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  user?: string
  ports?: string[]
  depends_on?: Record<string, unknown>
  healthcheck?: unknown
  volumes?: string[]
}

describe('compose.yaml', async () => {
  const text = await read(DEPLOY, 'compose.yaml')
  const { services, volumes } = parse(text, { merge: true }) as {
    services: Record<string, ComposeService>
    volumes: Record<string, null>
  }

  test('uses only settings that example.env names', async () => {
    const named = (await read(DEPLOY, 'example.env')).match(/^[A-Z][A-Z0-9_]*(?==)/gm)?.sort()
    const asked = [...new Set([...text.matchAll(/\$\{([A-Z0-9_]+)/g)].map(([, name = '']) => name))].sort()
    expect(named).toEqual(asked)
    for (const name of named ?? []) expect(Object.keys(SECRETS)).toContain(name)
  })

  test.each(['service', 'worker'])('%s has valid settings, and as few rights as possible', name => {
    const { command = [], environment = {}, ...rest } = services[name] as ComposeService
    const filled = Object.entries(environment).map(([key, value]) => [
      key,
      value.replace(/\$\{([A-Z0-9_]+)[^}]*\}/g, (_, variable: string) => SECRETS[variable] ?? ''),
    ])
    requireSettings(command[0] ?? '', Object.fromEntries(filled))
    expect(rest).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  })

  test('every part that is waited for is there, every image is of a version, and no part but the service is reached', () => {
    for (const [name, service] of Object.entries(services)) {
      for (const other of Object.keys(service.depends_on ?? {}))
        expect(services, `${name} waits for ${other}`).toHaveProperty(other)
      for (const volume of service.volumes ?? []) expect(volumes).toHaveProperty(volume.split(':')[0] ?? '')
      if (service.image !== 'mountglass') expect(service.image).toMatch(/:v?\d[\w.-]*$/)
      if (name !== 'service') expect(service.ports, name).toBeUndefined()
    }
    expect(services.service?.ports).toEqual(['127.0.0.1:4321:4321'])
  })
})

interface Container {
  name: string
  image: string
  args: string[]
  env?: { name: string; value: string }[]
  envFrom: ({ configMapRef: { name: string } } | { secretRef: { name: string } })[]
  ports?: { name: string; containerPort: number }[]
  securityContext: object
  resources: { limits: { memory: string } }
  volumeMounts: { name: string; mountPath: string }[]
  startupProbe?: Probe
  livenessProbe?: Probe
  readinessProbe?: Probe
}

interface Probe {
  httpGet: { path: string; port: string }
}

interface PodSpec {
  serviceAccountName: string
  automountServiceAccountToken: boolean
  terminationGracePeriodSeconds?: number
  securityContext: object
  containers: Container[]
  volumes: { name: string }[]
}

const UNITS = { Mi: 1, Gi: 1024 }

function megabytes(text: string): number {
  const [, number, unit] = /^(\d+)([MG]i)$/.exec(text) ?? []
  return Number(number) * UNITS[unit as keyof typeof UNITS]
}

// biome-ignore lint/suspicious/noExplicitAny: manifests of every kind, looked into freely
type Manifest = any

describe('Kubernetes', async () => {
  const files = (await readdir(KUBERNETES)).filter(name => name.endsWith('.yaml') && name !== 'kustomization.yaml').sort()
  const kustomization = parse(await read(KUBERNETES, 'kustomization.yaml')) as Manifest
  const manifests: Manifest[] = (
    await Promise.all(files.map(async name => parseAllDocuments(await read(KUBERNETES, name), { merge: true })))
  )
    .flat()
    .map(document => {
      expect(document.errors).toEqual([])
      return document.toJS()
    })
  const ofKind = (kind: string) => manifests.filter(manifest => manifest.kind === kind)
  const workloads: { name: string; labels: Record<string, string>; pod: PodSpec }[] = [
    ...ofKind('Deployment').map(({ metadata, spec }) => ({ name: metadata.name, ...spec })),
    ...ofKind('CronJob').map(({ metadata, spec }) => ({ name: metadata.name, ...spec.jobTemplate.spec })),
  ].map(({ name, template }) => ({ name, labels: template.metadata.labels, pod: template.spec }))
  const settings = Object.fromEntries(
    [...(await read(KUBERNETES, 'settings.env')).matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  )

  test('every file is applied', () => {
    expect([...kustomization.resources].sort()).toEqual(files)
  })

  test('a change of settings or secrets rolls the pods: both are generated, under names with their hash', () => {
    expect(kustomization).toMatchObject({
      configMapGenerator: [{ name: 'settings', envs: ['settings.env'] }],
      secretGenerator: [{ name: 'secrets', envs: ['secrets.env'] }],
    })
    expect(kustomization.generatorOptions).toBeUndefined()
    expect([...ofKind('ConfigMap'), ...ofKind('Secret')]).toEqual([])
  })

  test('the image has the version of this checkout, and its user', async () => {
    expect(kustomization.images).toEqual([{ name: 'mountglass', newName: expect.any(String), newTag: packageManifest.version }])
    const [, uid = ''] = /^USER (\d+):\1$/m.exec(await read(DEPLOY, 'Dockerfile')) ?? []
    for (const { name, pod } of workloads) {
      expect(pod.securityContext, name).toMatchObject({ runAsUser: Number(uid), runAsGroup: Number(uid) })
    }
  })

  test.each(workloads)('$name: its settings are valid, and its command accepts its arguments', ({ pod }) => {
    const [container] = pod.containers as [Container]
    expect(container.envFrom).toEqual([{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'secrets' } }])
    const own = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value]))
    const { POSTGRES_PASSWORD, S3_SECRET_KEY, ...secrets } = SECRETS
    requireSettings(container.args[0] ?? '', { ...secrets, ...settings, ...own })
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe])
      if (probe) {
        expect(['/healthz', '/readyz']).toContain(probe.httpGet.path)
        expect(container.ports?.map(({ name }) => name)).toContain(probe.httpGet.port)
      }
    const metrics = container.ports?.find(({ name }) => name === 'metrics')
    if (metrics) expect(String(metrics.containerPort)).toBe(settings.MOUNTGLASS_METRICS_PORT)
  })

  test.each(workloads)('$name: has no unnecessary rights', ({ pod }) => {
    expect(pod).toMatchObject({
      serviceAccountName: 'mountglass',
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } },
    })
    for (const { securityContext, resources, volumeMounts, image } of pod.containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(resources.limits.memory).toMatch(/^\d+[MG]i$/)
      // The root is read-only, and repositories are fetched to the temporary folder.
      expect(volumeMounts).toEqual([{ name: 'tmp', mountPath: '/tmp' }])
      expect(kustomization.images.map(({ name }: { name: string }) => name)).toContain(image)
    }
  })

  test.each(workloads)('$name: its command exists, with the given options', async ({ pod }) => {
    const [command = '', ...args] = pod.containers[0]?.args ?? []
    const [, described = ''] = (await read(ROOT, 'cli/commands.ts')).split(`.command('${command}')`)
    for (const option of args.filter(arg => arg.startsWith('--'))) expect(described.split('.command(')[0]).toContain(`'${option}`)
  })

  test('a worker has the memory of its jobs, and its own', () => {
    const [{ args, env, resources } = {} as Container] = workloads.find(({ name }) => name === 'worker')?.pod.containers ?? []
    const jobs = Number(args[args.indexOf('--concurrency') + 1])
    const perJob = Number(env?.find(({ name }) => name === 'MOUNTGLASS_JOB_MEGABYTES')?.value)
    expect(megabytes(resources.limits.memory)).toBeGreaterThanOrEqual(jobs * perJob + 150)
  })

  test('a pod that serves from memory stays ready without a store: its readiness depends on itself alone', () => {
    const service = workloads.find(({ name }) => name === 'service')?.pod.containers[0]
    expect(service?.readinessProbe?.httpGet).toEqual({ path: '/healthz', port: 'http' })
  })

  test('service and worker have time to stop', () => {
    const graceOf = (name: string) => workloads.find(workload => workload.name === name)?.pod.terminationGracePeriodSeconds ?? 0
    const drain = Number(
      workloads
        .find(({ name }) => name === 'service')
        ?.pod.containers[0]?.env?.find(({ name }) => name === 'MOUNTGLASS_DRAIN_SECONDS')?.value,
    )
    expect(graceOf('service')).toBeGreaterThan(drain + 10)
    expect(graceOf('worker')).toBeGreaterThan(10)
  })

  test('selectors match pods, and one pod stays when a machine is drained', () => {
    const selectors = manifests.flatMap(({ kind, metadata, spec }) => {
      const selector = kind === 'Service' ? spec.selector : (spec?.selector?.matchLabels ?? spec?.podSelector?.matchLabels)
      return selector ? [{ what: `${kind} ${metadata.name}`, selector }] : []
    })
    for (const { what, selector } of selectors) {
      const selected = workloads.filter(({ labels }) => Object.entries(selector).every(([name, value]) => labels[name] === value))
      expect(selected.length, what).toBeGreaterThan(0)
    }
    for (const { metadata, spec } of ofKind('PodDisruptionBudget')) {
      const deployment = ofKind('Deployment').find(({ metadata: { name } }) => name === metadata.name)
      const scaler = ofKind('HorizontalPodAutoscaler').find(
        ({ spec: { scaleTargetRef } }) => scaleTargetRef.name === metadata.name,
      )
      // One of them says how many there are: two would undo each other's work.
      expect([deployment.spec.replicas, scaler?.spec.minReplicas].filter(least => least !== undefined)).toHaveLength(1)
      expect(deployment.spec.replicas ?? scaler.spec.minReplicas).toBeGreaterThan(spec.minAvailable)
      expect(spec.unhealthyPodEvictionPolicy).toBe('AlwaysAllow')
    }
    for (const { spec } of ofKind('HorizontalPodAutoscaler'))
      expect(ofKind('Deployment').map(({ metadata }) => metadata.name)).toContain(spec.scaleTargetRef.name)
  })

  test('requests for the host reach the port of the service, and pods accept them from there alone', () => {
    expect(ofKind('Ingress')).toEqual([])
    const [{ spec: route }] = ofKind('HTTPRoute')
    expect(route.hostnames).toEqual([new URL(settings.MOUNTGLASS_BASE_URL ?? '').hostname])
    const backends = route.rules.flatMap(({ backendRefs }: Manifest) => backendRefs)
    const { metadata, spec: service } = ofKind('Service')[0]
    expect(backends).toEqual([{ name: metadata.name, port: service.ports[0].port }])
    const [policy] = ofKind('NetworkPolicy').filter(manifest => manifest.metadata.name === 'service')
    expect(policy.spec.ingress[0].from).toEqual([
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': route.parentRefs[0].namespace } } },
    ])
  })

  test('egress allows DNS of this cluster, TLS and PostgreSQL, and no credentials of the machine', () => {
    const [names, rest] = ofKind('NetworkPolicy').find(({ metadata }) => metadata.name === 'out').spec.egress
    expect(names.ports).toEqual(['UDP', 'TCP'].map(protocol => ({ port: 53, protocol })))
    expect(names.to).toContainEqual({ ipBlock: { cidr: '169.254.20.10/32' } })
    expect(rest.ports.map(({ port }: { port: number }) => port)).toEqual([443, 5432])
    for (const { ipBlock } of rest.to) expect(ipBlock.except.length).toBeGreaterThan(0)
  })

  test('only ports that a policy names are open', () => {
    const policies = ofKind('NetworkPolicy')
    expect(policies.find(({ metadata }) => metadata.name === 'nothing-else').spec).toEqual({
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
    })
    const ports = workloads.flatMap(({ pod }) =>
      pod.containers.flatMap(container => container.ports?.map(({ name }) => name) ?? []),
    )
    for (const { spec } of policies)
      for (const { from, ports: open } of spec.ingress ?? []) {
        expect(from.length).toBeGreaterThan(0)
        for (const { port } of open) expect(ports).toContain(port)
      }
  })
})
