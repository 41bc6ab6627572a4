/** Answers that are awaited at once. */
const AT_ONCE = 4

/** Does the same to every item, a few at a time. In the order of the items. */
export async function mapFew<Item, Value>(items: readonly Item[], work: (item: Item) => Promise<Value>): Promise<Value[]> {
  const values: Value[] = []
  const indices = items.keys()
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const index of indices) values[index] = await work(items[index] as Item)
  })
  await Promise.all(workers)
  return values
}

/** Does the same to every item as they come, `atOnce` at a time. The first failure ends it, after what was begun. */
export async function forEachOf<Item>(
  items: AsyncIterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  const running = new Set<Promise<void>>()
  for await (const item of items) {
    const one: Promise<void> = work(item)
      .catch(error => void failures.push(error))
      .finally(() => running.delete(one))
    running.add(one)
    if (running.size >= atOnce) await Promise.race(running)
    if (failures.length > 0) break
  }
  await Promise.all(running)
  if (failures.length > 0) throw failures[0]
}
