/** A value, or a promise of it. What is cached comes as it is: promises around it would cost more than the look-up. */
export type Awaitable<Value> = Value | Promise<Value>

/** Applies `use` to the value: now if it is there, else when its promise is fulfilled. */
export function whenThere<Value, Result>(value: Awaitable<Value>, use: (value: Value) => Awaitable<Result>): Awaitable<Result> {
  return value instanceof Promise ? value.then(use) : use(value)
}
