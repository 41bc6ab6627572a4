import type { LogRedaction } from './log-redaction.ts'

/** What an operator can look up later: who did what with sign-ins, tokens and grants, and what was refused. */
export interface Audit {
  note(event: AuditEvent, subject: AuditSubject): void
}

export type AuditEvent =
  | 'signin.ok'
  | 'signin.fail'
  | 'signout'
  | 'session.end'
  | 'forget'
  | 'token.create'
  | 'token.delete'
  | 'grant.create'
  | 'grant.delete'
  | 'refresh.reuse'
  | 'refresh.grace'
  | 'code.replay'
  | 'oauth.deny'
  | 'origin.refused'
  | 'host.revoked'

/** What the log names of a request. */
export interface RequestOrigin {
  requestId: string
  /** Of the connection. */
  ip: string
}

/** Nothing here is a secret, and nothing names what is private. */
export interface AuditSubject {
  /** `null` or absent for what no request caused. */
  origin?: RequestOrigin | null
  /** Names the record of the person. */
  person?: string
  /** `/<host>/<owner>/<name>`. It is logged as a keyed hash. */
  address?: string
  repositoryId?: string
  /** Hash of a client id. */
  client?: string
  /** Id of the token, grant or session. */
  id?: string
  reason?: string
}

export interface AuditLog {
  info(fields: object, message: string): void
}

export function createAudit(log: AuditLog, names: Pick<LogRedaction, 'hashOf'>): Audit {
  return {
    note(audit, { origin, address, ...subject }) {
      const [, host = '', owner = '', repository = ''] = address?.split('/') ?? []
      const repo = address === undefined ? {} : { repo: names.hashOf({ host, owner, repository }) }
      log.info({ audit, ...(origin && { reqId: origin.requestId, ip: origin.ip }), ...subject, ...repo }, 'audit')
    },
  }
}
