/** The store, with every call of it written down. */
export function recordedStore<Store extends object>(store: Store, calls: string[]): Store {
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        calls.push(`${String(name)} ${String(args[0])}`)
        return (member as (...given: unknown[]) => unknown).apply(target, args)
      }
    },
  })
}
