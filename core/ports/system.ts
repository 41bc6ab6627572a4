export interface Clock {
  now(): Date
}

export interface RandomSource {
  bytes(length: number): Uint8Array
}
