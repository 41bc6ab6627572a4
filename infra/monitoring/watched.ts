import type { GitHost } from '#core/ports/git-host.ts'
import type { JobQueue } from '#core/ports/job-queue.ts'
import type { Metrics } from '#core/ports/metrics.ts'

/** The queue is asked at most once in this time, however often the metrics are read. */
const QUEUE_MS = 5_000

/** Records the depth of the queue whenever the metrics are read. */
export function watchQueue(queue: Pick<JobQueue, 'depth'>, metrics: Metrics): void {
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null
  const ask = async () => {
    metrics.record('mountglass_queue_jobs', {}, await queue.depth())
  }
  metrics.beforeRead(() => {
    if (asking === null && performance.now() - askedAt < QUEUE_MS) return undefined
    asking ??= ask().finally(() => {
      asking = null
      askedAt = performance.now()
    })
    return asking
  })
}

/** Records the quotas of the hosts whenever the metrics are read. */
export function watchHosts(hosts: readonly Pick<GitHost, 'segment' | 'quota'>[], metrics: Metrics): void {
  metrics.beforeRead(() => {
    for (const host of hosts) {
      const quota = host.quota?.() ?? null
      if (quota === null) continue
      const labels = { host: host.segment }
      metrics.record('mountglass_host_quota_limit', labels, quota.limit)
      metrics.record('mountglass_host_quota_remaining', labels, quota.remaining)
      metrics.record('mountglass_host_quota_reset_timestamp_seconds', labels, quota.resetsAt.getTime() / 1000)
    }
  })
}
