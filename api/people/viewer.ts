import type { HostRepository } from '#core/ports/git-host.ts'

/** Who sends a request. */
export type Viewer = { kind: 'anonymous' }

export const ANONYMOUS: Viewer = { kind: 'anonymous' }

/** Whether the viewer may learn that the repository exists. If not, it is answered exactly as one that does not exist. */
export function maySee(viewer: Viewer, { visibility }: Pick<HostRepository, 'visibility'>): boolean {
  switch (viewer.kind) {
    case 'anonymous':
      return visibility === 'public'
  }
}
