import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

/** Never behind a proxy: what runs on this machine. */
const OWN = ['localhost', '127.0.0.1', '::1']

/** What `NO_PROXY` exempts from proxies. */
export interface NoProxy {
  /**
   * The forms that the HTTP client of Node reads: `*`, a host, `.` and a domain, `<host>:<port>`, `<first>-<last>` of addresses. An address of
   * IPv6 stands with and without brackets, since clients spell it either way.
   */
  forms: readonly string[]
  /** Entries that have no such form. */
  unread: readonly string[]
}

/**
 * Reads the spellings of `NO_PROXY` that programs know: entries are separated by commas or white space; `example.org`, `.example.org` and
 * `*.example.org` are the domain and all names below it; `host:443` is that host at that port; `10.0.0.0/8` and `10.0.0.1-10.0.0.9` are ranges.
 */
export function parseNoProxy(text: string): NoProxy {
  const entries = text.toLowerCase().split(/[\s,]+/)
  const read = entries.filter(entry => entry !== '').map(entry => ({ entry, forms: formsOf(entry) }))
  return {
    forms: [...OWN, ...read.flatMap(({ forms }) => forms ?? [])].flatMap(inBrackets),
    unread: read.filter(({ forms }) => forms === null).map(({ entry }) => entry),
  }
}

/** Whether a host is reached without a proxy. The HTTP client of Node compares in the same way. @param host an address of IPv6 may stand in brackets */
export function isExempt({ forms }: Pick<NoProxy, 'forms'>, host: string, port: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '')
  return forms.some(
    form =>
      form === '*' ||
      form === name ||
      form === `${name}:${port}` ||
      (form.startsWith('.') && name.endsWith(form)) ||
      isInRange(form, name),
  )
}

function formsOf(entry: string): string[] | null {
  if (entry === '*') return ['*']
  if (entry.includes('/')) return rangeOf(entry)
  if (isRange(entry)) return [entry]
  const [, bracketed, plain = '', port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(entry) ?? []
  const address = bracketed ?? (isIPv6(entry) ? entry : null)
  const host = address === null ? plain : canonical(address)
  if (host === null || host === '') return null
  if (isIP(host)) return [port === undefined ? host : `${host}:${port}`]
  const domain = host.replace(/^\*?\./, '').replace(/\.$/, '')
  if (!/^[\p{L}\d](?:[\p{L}\d._-]*)$/u.test(domain)) return null
  const name = URL.parse(`http://${domain}`)?.hostname ?? domain
  if (port === undefined) return [name, `.${name}`]
  // The client of Node knows ports of hosts only.
  return domain === host ? [`${name}:${port}`] : null
}

/** The spelling of an address of IPv6 in a URL; `null` for what is none. */
function canonical(address: string): string | null {
  return isIPv6(address) ? (URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? null) : null
}

function inBrackets(form: string): string[] {
  return isIPv6(form) ? [form, `[${form}]`] : [form]
}

/** `10.0.0.0/8` as its first and last address. */
function rangeOf(entry: string): string[] | null {
  const [, address = '', digits = ''] = /^([\d.]+)\/(\d{1,2})$/.exec(entry) ?? []
  const bits = Number(digits)
  if (!isIPv4(address) || digits === '' || bits > 32) return null
  const size = 2 ** (32 - bits)
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const first = number - (number % size)
  return [`${dotted(first)}-${dotted(first + size - 1)}`]
}

function dotted(number: number): string {
  return [24, 16, 8, 0].map(shift => Math.floor(number / 2 ** shift) % 256).join('.')
}

function isRange(form: string): boolean {
  const ends = form.split('-')
  return ends.length === 2 && ends.every(end => isIPv4(end))
}

function isInRange(form: string, name: string): boolean {
  if (!isRange(form) || !isIPv4(name)) return false
  const [first = '', last = ''] = form.split('-')
  const list = new BlockList()
  list.addRange(first, last)
  return list.check(name)
}
