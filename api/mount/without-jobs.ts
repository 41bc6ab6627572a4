import type { Deps } from '../deps.ts'

/** For what pages ask beside the interface: it offers no job, so that a page that looks aside indexes nothing. */
export function withoutJobs(deps: Deps): Deps {
  return {
    ...deps,
    queue: { peek: async () => null, offer: async () => ({ status: 'indexing' }) },
    onOffered() {},
  }
}
