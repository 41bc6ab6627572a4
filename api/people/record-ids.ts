import { createHmac } from 'node:crypto'
import { RECORD_ID_BYTES, type RecordId } from './token-text.ts'

/**
 * Where the records of people and grants lie, by what identifies them. The same person, and the same app for the same repository, always has
 * the same place, so that neither needs an index. The places are keyed hashes: without the id key, an account does not lead to its record.
 */
export interface RecordIds {
  /** @param accountId see `HostPerson.id` */
  person(accountId: string): RecordId
  /** The operator of this deployment, whose tokens read local repositories. */
  operator(): RecordId
  /** @param clientHash of the client's id @param repository its address, in one spelling of all that name it */
  grant(person: RecordId, clientHash: string, repository: string): RecordId
}

/** @param key the id key of the deployment, which is never changed: with another key, everybody is a stranger */
export function createRecordIds(key: Uint8Array): RecordIds {
  const locate = (text: string) => createHmac('sha256', key).update(text).digest().subarray(0, RECORD_ID_BYTES).toString('hex')
  return {
    person: accountId => locate(`user|${accountId}`),
    operator: () => locate('operator'),
    grant: (person, clientHash, repository) => locate(`grant|${person}|${clientHash}|${repository}`),
  }
}

/** Parses the value of `MOUNTGLASS_ID_KEY`; `null` when it is not 32 bytes in base64url. */
export function parseIdKey(text: string): Uint8Array | null {
  return /^[A-Za-z0-9_-]{43}$/.test(text) ? new Uint8Array(Buffer.from(text, 'base64url')) : null
}

/** The text of `MOUNTGLASS_ID_KEY`. */
export function formatIdKey(key: Uint8Array): string {
  return Buffer.from(key).toString('base64url')
}
