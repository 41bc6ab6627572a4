import type { Writable } from 'node:stream'

/**
 * What looks like a credential, in the last step before a line is written: tokens of this deployment, tokens of the git host (those of
 * installations hold a JWT), JSON Web Tokens, which seals are, and what stands before the host of a URL, as in that of a proxy.
 */
const CREDENTIALS =
  /(?<=:\/\/)[^/\s"@]{1,1024}(?=@)|\bmg[pars]_[0-9A-Za-z]+|\b(?:gh[oprsu]_|github_pat_)[\w.-]+|eyJ[\w-]{8,}(?:\.[\w-]*)*/g

/** A line of a log without credentials. Nothing should log one; an error of a library may. */
export function scrubbed(line: string): string {
  return line.replace(CREDENTIALS, '[credential]')
}

/** A stream for a logger that writes scrubbed lines to another. */
export function scrubbedLog(stream: Pick<Writable, 'write'>): { write(line: string): void } {
  return { write: line => void stream.write(scrubbed(line)) }
}
