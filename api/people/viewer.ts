import type { HostRepository } from '#core/ports/git-host.ts'

/** Who sends a request. */
export type Viewer =
  | { kind: 'anonymous' }
  /** Whoever started this process to read with it: nobody else can ask it anything. */
  | { kind: 'own_process' }

export const ANONYMOUS: Viewer = { kind: 'anonymous' }
export const OWN_PROCESS: Viewer = { kind: 'own_process' }

/** Whether the viewer may learn that the repository exists. If not, it is answered exactly as one that does not exist. */
export function maySee(viewer: Viewer, { visibility }: Pick<HostRepository, 'visibility'>): boolean {
  switch (viewer.kind) {
    case 'anonymous':
      return visibility === 'public'
    case 'own_process':
      return true
  }
}
