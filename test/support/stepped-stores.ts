import type { Stores } from '#indexer/sweep/repositories.ts'

/** Stores that tell of every step before it is taken. */
export function stepped({ blobs, states }: Stores, before: (step: number) => Promise<void>): { stores: Stores; steps(): number } {
  let steps = 0
  const watched = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get: (target, name) => {
        const method = target[name as keyof Store] as (...args: unknown[]) => Promise<unknown>
        return async (...args: unknown[]) => {
          await before(steps++)
          return await method(...args)
        }
      },
    })
  return { stores: { blobs: watched(blobs), states: watched(states) }, steps: () => steps }
}
