/** The origins of the host, each on a port of its own: as on the real one, a redirect between them crosses origins. */
export type HostName = 'api' | 'web' | 'raw' | 'avatars'

export const HOST_NAMES: readonly HostName[] = ['api', 'web', 'raw', 'avatars']

/** The base URL of every origin, without a trailing slash. */
export type Origins = Readonly<Record<HostName, string>>

/**
 * Who asks: nobody, a person's own token, a person through the app, an installation of the app, the app itself (JWT), a client
 * id with its secret, or something that is not accepted.
 */
export type CredentialKind = 'anonymous' | 'personal' | 'user' | 'installation' | 'app' | 'client' | 'invalid'
