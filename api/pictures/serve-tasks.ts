import type { FromTaskProcess } from './task-process.ts'

/** The other side of `TaskProcess`: does every task that arrives, until the service is gone. Whatever a task throws refuses it. */
export function serveTasks<Task, Result>(work: (task: Task) => Promise<Result>): void {
  process.once('disconnect', () => process.exit(0))
  // The service ends this process. A terminal or supervisor signals the whole process group.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {})
  process.on('message', (task: Task) => {
    work(task).then(
      result => send({ result }),
      error => send({ refusal: String(error) }),
    )
  })
  send('ready')
}

/** Drops the message when the service is gone: `disconnect` handles that. */
function send<Result>(message: FromTaskProcess<Result>): void {
  if (process.connected) process.send?.(message, () => {})
}
