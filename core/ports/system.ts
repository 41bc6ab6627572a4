/** Source of the current time; tests set it. */
export interface Clock {
  now(): Date
}

/** Source of cryptographically secure random bytes; tests set it. */
export interface RandomSource {
  bytes(length: number): Uint8Array
}
