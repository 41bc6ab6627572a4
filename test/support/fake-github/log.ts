import type { IncomingHttpHeaders } from 'node:http'
import type { CredentialKind, HostName } from './kinds.ts'

/** One request, written down as it comes in and completed as it is answered. */
export interface RequestRecord {
  host: HostName
  method: string
  /** With its query, as it came. */
  path: string
  headers: IncomingHttpHeaders
  credential: CredentialKind
  /** 0 until answered, and for ever when the connection was broken instead. */
  status: number
  /** Bytes of the bodies as sent, compressed or not. */
  bytesIn: number
  bytesOut: number
  /** Whether it took from the primary limit. */
  counted: boolean
  /** Whether the answer was an injected fault. */
  fault: boolean
  /** What git asked for; `null` when it was not git. */
  git: GitAsked | null
}

export interface GitAsked {
  command: 'info/refs' | 'ls-refs' | 'fetch'
  /** Objects asked for by name. */
  wants: number
  haves: number
  filter: string | null
  depth: number | null
}

export interface RequestLog {
  /** In the order of arrival. */
  readonly all: readonly RequestRecord[]
  /** Of the API. */
  readonly rest: readonly RequestRecord[]
  readonly git: readonly RequestRecord[]
  /** `GET /repos/acme/tools 200`, in the order of arrival. */
  readonly lines: readonly string[]
  /** The most requests that were under way at once. */
  readonly peak: number
  bytesOut(): number
  clear(): void
}

export interface WritableLog extends RequestLog {
  open(record: Pick<RequestRecord, 'host' | 'method' | 'path' | 'headers'>): RequestRecord
  close(record: RequestRecord): void
}

export function createLog(): WritableLog {
  let records: RequestRecord[] = []
  const open = new Set<RequestRecord>()
  let peak = 0
  return {
    get all() {
      return records
    },
    get rest() {
      return records.filter(record => record.host === 'api')
    },
    get git() {
      return records.filter(record => record.git !== null)
    },
    get lines() {
      return records.map(({ method, path, status }) => `${method} ${path} ${status}`)
    },
    get peak() {
      return peak
    },
    bytesOut: () => records.reduce((sum, record) => sum + record.bytesOut, 0),
    clear() {
      records = []
      peak = open.size
    },
    open(begun) {
      const record: RequestRecord = {
        ...begun,
        credential: 'anonymous',
        status: 0,
        bytesIn: 0,
        bytesOut: 0,
        counted: false,
        fault: false,
        git: null,
      }
      records.push(record)
      open.add(record)
      peak = Math.max(peak, open.size)
      return record
    },
    close: record => void open.delete(record),
  }
}
