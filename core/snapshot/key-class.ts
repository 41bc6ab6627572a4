/** Whether what a key names belongs to a private repository. Every key that names a repository has the class of it as its first part. */
export function isPrivateKey(key: string): boolean {
  return classOf(key) === 'prv'
}

/** Whether keys that begin with the prefix belong to private repositories: all, none or some of them. */
export function privateShare(prefix: string): 'all' | 'none' | 'some' {
  const found = classOf(prefix)
  if (found === undefined) return 'some'
  return found === 'prv' ? 'all' : 'none'
}

/** The part where the class stands, when it is whole. */
function classOf(key: string): string | undefined {
  return /^(?:ctl\/[^/]*\/)?(?!ctl\/)([^/]*)\//.exec(key)?.[1]
}
