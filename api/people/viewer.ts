import type { HostRepository } from '#core/ports/git-host.ts'
import type { RecordId } from './token-text.ts'

/** Who sends a request. */
export type Viewer =
  | { kind: 'anonymous' }
  /** The user who started this process, for example `mountglass mcp`. It accepts requests of no other. */
  | { kind: 'own_process' }
  | PersonViewer
  | TokenViewer

/** A person who is signed in, by the session cookie. */
export interface PersonViewer {
  kind: 'person'
  /** Names the person's record. */
  key: RecordId
  sessionId: RecordId
}

/** A program with an agent token, or with an access token of a grant. It reads its one repository. */
export interface TokenViewer {
  kind: 'token'
  /** Names the record of the person on whose behalf it reads. */
  key: RecordId
  of: 'agent' | 'grant'
  /** Of the agent token or the grant. */
  id: RecordId
  repository: TokenRepository
}

/** The repository of a token. */
export interface TokenRepository {
  host: string
  owner: string
  name: string
  /** See `HostRepository.id`: another repository of the same name is not it. */
  id: string
}

/** A viewer on whose behalf the host is asked. */
export type KeyedViewer = PersonViewer | TokenViewer

export const ANONYMOUS: Viewer = { kind: 'anonymous' }
export const OWN_PROCESS: Viewer = { kind: 'own_process' }

/** Whether the viewer may learn that the repository exists. If not, it is answered exactly as one that does not exist. */
export function maySee(viewer: Viewer, { visibility }: Pick<HostRepository, 'visibility'>): boolean {
  switch (viewer.kind) {
    // What a person may see, the host of the repository says: see `People.see`.
    case 'anonymous':
    case 'person':
    case 'token':
      return visibility === 'public'
    case 'own_process':
      return true
  }
}
