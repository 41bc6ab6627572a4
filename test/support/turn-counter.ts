/** Counts the turns of the event loop from now on. */
export interface TurnCounter {
  /** Of the turn that runs. */
  turn(): number
  stop(): void
}

/** @param eachTurn called in every turn */
export function countTurns(eachTurn: () => void = () => {}): TurnCounter {
  let turn = 0
  let next: NodeJS.Immediate
  const begin = () => {
    turn++
    eachTurn()
    next = setImmediate(begin)
  }
  next = setImmediate(begin)
  return { turn: () => turn, stop: () => clearImmediate(next) }
}

/** How many processes this process started in one turn of the event loop at most, while `work` ran. */
export async function mostStartsATurn(work: () => Promise<unknown>): Promise<number> {
  const running = [countProcesses()]
  const turns = countTurns(() => running.push(countProcesses()))
  await work().finally(turns.stop)
  return Math.max(...running.map((count, turn) => count - (running[turn - 1] ?? count)))
}

function countProcesses(): number {
  return process.getActiveResourcesInfo().filter(name => name === 'ProcessWrap').length
}
