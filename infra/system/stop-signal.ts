/** systemd tells every process of a service, the launcher among them, which passes it on: that is no asking again. */
const SAME_MILLISECONDS = 1_000

/**
 * Runs `stop` at the first SIGTERM or SIGINT, and then ends the process: with 0 when it stopped in order, with 1 when it did not, or not in
 * time. Whoever asks again does not want to wait.
 *
 * @param milliseconds that stopping may take
 * @param onError told why it did not stop in order
 * @param sameMilliseconds who asks again within this time is taken for the first one
 */
export function stopOnSignal(
  stop: (signal: NodeJS.Signals) => Promise<void>,
  milliseconds: number,
  onError: (error: unknown) => void,
  sameMilliseconds = SAME_MILLISECONDS,
): void {
  let askedAt: number | null = null
  const onSignal = (signal: NodeJS.Signals) => {
    if (askedAt !== null) {
      if (performance.now() - askedAt > sameMilliseconds) process.exit(1)
      return
    }
    askedAt = performance.now()
    const tooLate = () => {
      onError(new Error(`not stopped after ${milliseconds} ms`))
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
