/**
 * Whether the key belongs to a private repository. The keys of a repository begin with its class, after the `ctl/` area if any. Those of
 * listings of owners have no class, as only public repositories are listed.
 */
export function isPrivateKey(key: string): boolean {
  return classOf(key) === 'prv'
}

/** Whether all, none or some of the keys with this prefix belong to private repositories. */
export function privateShare(prefix: string): 'all' | 'none' | 'some' {
  const found = classOf(prefix)
  if (found === undefined) return 'some'
  return found === 'prv' ? 'all' : 'none'
}

/** The segment of the class; `undefined` when the key ends before it is complete. */
function classOf(key: string): string | undefined {
  return /^(?:ctl\/[^/]*\/)?(?!ctl\/)([^/]*)\//.exec(key)?.[1]
}
