import type { FakeAnswer, FakeRequest } from './http.ts'
import type { HostName } from './kinds.ts'

/** What goes wrong, where and how often. Without an effect of its own the real answer is given, late when `delaySeconds` says so. */
export interface Fault {
  match?: {
    host?: HostName
    method?: string
    /** The path with its query; a string is the whole path without the query. */
    path?: string | RegExp
  }
  /** Default: once. */
  times?: number
  delaySeconds?: number
  /** An answer instead of the real one. */
  status?: number
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** The connection breaks without an answer. */
  reset?: true
  /** The real answer breaks off after so many bytes of its body. */
  cutAfterBytes?: number
  /** Headers, and then nothing more. */
  stall?: true
  /** A body without end, of the real content type. */
  endless?: true
  /** A page where data was expected. */
  html?: true
  /** A redirect to this URL. */
  redirect?: string
}

/** What befalls a request; `null`: nothing. */
export type ChooseFault = (request: Pick<FakeRequest, 'host' | 'method' | 'path'>) => Fault | null

export interface Faults {
  add(fault: Fault): void
  /** From now on every request is asked about, after the faults that were added. `null`: no more. */
  choose(choose: ChooseFault | null): void
  /** The faults that are still to happen. */
  readonly pending: readonly Fault[]
  clear(): void
}

export interface TakableFaults extends Faults {
  /** The first fault that matches, used up by one. */
  take(request: FakeRequest): Fault | null
}

export function createFaults(): TakableFaults {
  let pending: { fault: Fault; left: number }[] = []
  let chosen: ChooseFault | null = null
  return {
    get pending() {
      return pending.map(({ fault }) => fault)
    },
    add: fault => void pending.push({ fault, left: fault.times ?? 1 }),
    choose: choose => {
      chosen = choose
    },
    clear: () => {
      pending = []
      chosen = null
    },
    take(request) {
      const found = pending.find(({ fault }) => isMatch(fault, request))
      if (!found) return chosen?.(request) ?? null
      found.left--
      if (found.left <= 0) pending = pending.filter(one => one !== found)
      return found.fault
    },
  }
}

function isMatch({ match = {} }: Fault, request: FakeRequest): boolean {
  const query = request.query.toString()
  const target = query === '' ? request.path : `${request.path}?${query}`
  return (
    (match.host === undefined || match.host === request.host) &&
    (match.method === undefined || match.method === request.method) &&
    (match.path === undefined || (typeof match.path === 'string' ? match.path === request.path : match.path.test(target)))
  )
}

/** The answer that takes the real one's place; `null` when the real one is to be given. */
export function faultAnswer(fault: Fault): FakeAnswer | null {
  if (fault.redirect !== undefined)
    return { status: fault.status ?? 302, headers: { ...fault.headers, location: fault.redirect } }
  if (fault.html) {
    const headers = { 'content-type': 'text/html; charset=utf-8', ...fault.headers }
    return { status: fault.status ?? 200, headers, body: fault.body ?? '<!doctype html><title>Unicorn!</title>' }
  }
  if (fault.status === undefined && fault.body === undefined) return null
  const headers = { 'content-type': 'application/json; charset=utf-8', ...fault.headers }
  return { status: fault.status ?? 200, headers, body: fault.body ?? '' }
}
