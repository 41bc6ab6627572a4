/**
 * Where an error and its causes arose. Their messages are left out: they may quote names, paths and texts of a repository, which have no place
 * in a log while the repository is not known to be public.
 */
export function framesOf(cause: unknown): string[] {
  if (!(cause instanceof Error)) return []
  const frames = (cause.stack ?? '').split('\n').filter(line => /^\s+at /.test(line))
  return [...frames, ...framesOf(cause.cause)]
}
