import type { GitHost } from '#core/ports/git-host.ts'
import { openLocalHost } from '#infra/local/host.ts'

/** A driver of the port: opened over a folder of real repositories, it must pass the suite. */
export interface GitHostDriver {
  segment: string
  open(root: string): Promise<GitHost>
}

export const GIT_HOST_DRIVERS: readonly GitHostDriver[] = [
  { segment: 'local', open: root => openLocalHost({ root, baseUrl: 'http://127.0.0.1:4321' }) },
]
