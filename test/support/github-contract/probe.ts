/** A question to GitHub, and what its answer must be. Placeholders in braces stand for what earlier probes learnt. */
export interface Probe {
  name: string
  host: 'api' | 'web'
  /** `POST` only where git asks so. */
  method?: 'GET' | 'POST'
  /** With placeholders `{owner}`; names are percent-encoded when they are filled in. `{=avatar}` is taken as it is, also as a whole address. */
  path: string
  headers?: Readonly<Record<string, string>>
  /**
   * Who asks, if not whoever asks the other probes: `nobody` has no token, `nonsense` has a made-up one. `token`: the probe is left out where
   * there is no token.
   */
  as?: 'nobody' | 'nonsense' | 'token'
  /** Only for tokens of this kind; the probe is left out where there is another one, or none. */
  ofToken?: TokenKind
  /** Only for tokens that see this, as the maintainer says; the probe is left out where nothing is said. */
  sees?: Subjects['sees']
  /** Lines that git sends; a flush follows. */
  gitLines?: readonly GitLine[]
  status: number
  /** What the headers match; `null`: there is none. A placeholder stands for what was learnt, word by word. */
  answerHeaders?: Readonly<Record<string, string | null>>
  /** The operation of GitHub's description that a JSON body is held to. */
  operation?: string
  /** Fields that are read, by their path, and what they may be. */
  fields?: Readonly<Record<string, string>>
  /** What the body matches, as Latin-1. */
  text?: string
  /** What later probes know from this one: a field of the body, a header, or the body itself. */
  learn?: Readonly<Record<string, `body.${string}` | `header.${string}` | 'text'>>
}

/** Told apart by their beginning: `app` is that of an installation or of a person who signed in by an App. */
export type TokenKind = 'classic' | 'fine-grained' | 'app'

export type GitLine = string | typeof DELIMITER

/** Stands between the capabilities and the arguments of a command of git. */
export const DELIMITER = Symbol('delimiter')

/** What there is at the host that is probed. */
export interface Subjects {
  owner: string
  repository: string
  branch: string
  /** Annotated or not. */
  tag: string
  /** A text file at the root of the branch. */
  file: string
  /** `owner/name` that a public repository had before; empty: left out, as the next two. */
  renamed: string
  /** `owner/name` of a repository that a takedown blocks. */
  blocked: string
  /** `owner/name` of a repository with more than 100,000 files. */
  large: string
  /** What the token sees: `private` repositories too, or `public` ones only; empty: unknown. */
  sees: 'public' | 'private' | ''
}
