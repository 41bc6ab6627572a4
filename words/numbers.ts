const NUMBERS = new Intl.NumberFormat('en')

/** `1,200` */
export function formatNumber(value: number): string {
  return NUMBERS.format(value)
}

/** `1.2`: rounded to tenths, without marks between thousands. */
export function formatTenths(value: number): string {
  return value.toFixed(1)
}
