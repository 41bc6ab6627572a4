/** Maps the items, at most `atOnce` of them concurrently. Results are in the order of the items. @throws the first failure, while others go on */
export async function mapFew<Item, Value>(
  items: readonly Item[],
  work: (item: Item) => Promise<Value>,
  atOnce = 4,
): Promise<Value[]> {
  const values: Value[] = []
  const indices = items.keys()
  const workers = Array.from({ length: atOnce }, async () => {
    for (const index of indices) values[index] = await work(items[index] as Item)
  })
  await Promise.all(workers)
  return values
}

/**
 * Runs `work` for the items as they arrive, at most `atOnce` of them concurrently. After a failure, of `work` or of `items`, it starts no
 * other item.
 *
 * @throws the first failure, once all running items have ended
 */
export async function forEachOf<Item>(
  items: AsyncIterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  const running = new Set<Promise<void>>()
  try {
    for await (const item of items) {
      if (failures.length > 0) break
      const one: Promise<void> = work(item)
        .catch(error => void failures.push(error))
        .finally(() => running.delete(one))
      running.add(one)
      if (running.size >= atOnce) await Promise.race(running)
    }
  } catch (error) {
    failures.push(error)
  }
  await Promise.all(running)
  if (failures.length > 0) throw failures[0]
}
