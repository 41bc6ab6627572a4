/**
 * Runs `stop` at the first SIGTERM or SIGINT, and then ends the process: with 0 when it stopped in order, with 1 when it did not, or not in
 * time. Whoever asks twice does not want to wait.
 *
 * @param milliseconds that stopping may take
 * @param onError told why it did not stop in order
 */
export function stopOnSignal(
  stop: (signal: NodeJS.Signals) => Promise<void>,
  milliseconds: number,
  onError: (error: unknown) => void,
): void {
  let isStopping = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (isStopping) process.exit(1)
    isStopping = true
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
