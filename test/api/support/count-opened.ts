import type { Deps } from '#api/deps.ts'

/** Counts how often a mount is opened: once for each call of a handler. */
export interface OpenedMounts {
  count: number
  /** For the dependencies of a test's service. */
  deps(deps: Deps): Deps
}

export function countOpened(): OpenedMounts {
  const opened: OpenedMounts = {
    count: 0,
    deps: deps => {
      const { uses } = deps
      const count: typeof uses.opened = use => {
        opened.count++
        uses.opened(use)
      }
      return { ...deps, uses: { ...uses, opened: count } }
    },
  }
  return opened
}
