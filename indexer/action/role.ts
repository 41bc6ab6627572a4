import { fromWebToken } from '@aws-sdk/credential-provider-web-identity'
import type { InfraSettings, S3Credentials } from '#infra/infra-settings.ts'

/** The cloud does not lend the role. The message is for the author of the workflow. */
export class RoleError extends Error {}

/** The SDK waits without an end. */
const TIMES = { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true }

/**
 * Takes on a role of the cloud with the token of the run. It is lent for an hour, or for what the role says: longer than any build.
 *
 * @throws RoleError
 */
export async function takeRole(role: string, token: string): Promise<S3Credentials> {
  const options = { roleArn: role, roleSessionName: 'mountglass', webIdentityToken: token }
  try {
    const lent = await fromWebToken({ ...options, clientConfig: { requestHandler: TIMES } })()
    const { accessKeyId, secretAccessKey, sessionToken } = lent
    return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) }
  } catch (cause) {
    const { name, message } = cause as Error
    throw new RoleError(`the role ${role} cannot be taken on: does it trust this workflow? ${name}: ${message}`, { cause })
  }
}

/**
 * The settings with every bucket asked as the role, unless it has credentials of its own. What the SDK would find elsewhere, in the
 * environment first of all, plays no part: it may belong to another step.
 */
export function asRole(settings: InfraSettings, role: S3Credentials): InfraSettings {
  const { store, privateStore } = settings
  return {
    ...settings,
    store: store.kind === 's3' ? { ...store, credentials: role } : store,
    privateStore: privateStore && { ...privateStore, credentials: privateStore.credentials ?? role },
  }
}
