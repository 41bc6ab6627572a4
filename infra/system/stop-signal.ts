/** A second signal within this time is a duplicate: systemd signals every process, and the launcher forwards its signal. */
const DUPLICATE_MS = 1_000

/**
 * Runs `stop` at the first SIGTERM or SIGINT, then exits: with 0 when it resolves, with 1 when it rejects or exceeds `milliseconds`.
 * A later signal exits at once, with 1.
 *
 * @param onError receives the error of `stop`, or the timeout
 * @param duplicateMs a second signal within this time is a duplicate
 */
export function stopOnSignal(
  stop: (signal: NodeJS.Signals) => Promise<void>,
  milliseconds: number,
  onError: (error: unknown) => void,
  duplicateMs = DUPLICATE_MS,
): void {
  let askedAt: number | null = null
  const onSignal = (signal: NodeJS.Signals) => {
    if (askedAt !== null) {
      if (performance.now() - askedAt > duplicateMs) process.exit(1)
      return
    }
    askedAt = performance.now()
    const tooLate = () => {
      onError(new Error(`the process did not stop within ${milliseconds} ms`))
      process.exit(1)
    }
    setTimeout(tooLate, milliseconds).unref()
    stop(signal).then(
      () => process.exit(0),
      (error: unknown) => {
        onError(error)
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}
