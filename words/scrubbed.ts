/**
 * What looks like a credential: what stands before the host of a URL, such as that of a proxy, a database or a bucket, with `@` and `/` in it;
 * passwords among the parameters of a URL; tokens of this deployment; tokens of the git host (those of installations hold a JWT); JSON Web
 * Tokens, which seals are. The digits after the host of `http://host:4321/a@b` are a port.
 */
const CREDENTIALS = new RegExp(
  [
    /(?<=:\/\/)(?:[^/\s":[\]]{0,256}:(?!\d{1,5}[/?#])[^\s"]{1,1024}|[^/\s"]{1,1024})(?=@)/,
    /(?<=[?&](?:ssl)?password=)[^&\s"]+/,
    /\bmg[pars]_[0-9A-Za-z]+/,
    /\b(?:gh[oprsu]_|github_pat_)[\w.-]+/,
    /eyJ[\w-]{8,}(?:\.[\w-]*)*/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)

/** A line for a log or a person without credentials, in the last step before it is written. No code should write one; an error of a library may. */
export function scrubbed(line: string): string {
  return line.replace(CREDENTIALS, '[credential]')
}

/** A stream for a logger that writes scrubbed lines to another. */
export function scrubbedLog(stream: { write(line: string): unknown }): { write(line: string): void } {
  return { write: line => void stream.write(scrubbed(line)) }
}
