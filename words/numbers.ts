import { fill } from './fill.ts'

const NUMBERS = new Intl.NumberFormat('en')

/** `1,200` */
export function formatNumber(value: number): string {
  return NUMBERS.format(value)
}

/** `1.2`: rounded to tenths, without marks between thousands. */
export function formatTenths(value: number): string {
  return value.toFixed(1)
}

/** `1 skill`, `12 skills` */
export function formatCount(value: number, forms: { one: string; other: string }): string {
  return fill(value === 1 ? forms.one : forms.other, { n: formatNumber(value) })
}
