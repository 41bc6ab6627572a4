import { isIPv6 } from 'node:net'

/**
 * What counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, since a single line has all addresses below them.
 *
 * @param address as a socket tells it
 */
export function clientNetwork(address: string): string {
  if (!isIPv6(address)) return address
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [before = '', after] = address.replace(/%.*/, '').split('::')
  const [left, right] = [before, after ?? ''].map(part => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const zeros = after === undefined ? [] : new Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0')
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return `${groups.map(group => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
