import { fromWebToken } from '@aws-sdk/credential-provider-web-identity'
import type { InfraSettings, S3Credentials } from '#infra/infra-settings.ts'

/** The cloud refused the role. The message is for the author of the workflow. */
export class RoleError extends Error {}

/** The SDK has no timeouts by default. */
const TIMEOUTS = { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true }

/**
 * Assumes a role of the cloud with the OIDC token of the run. The credentials last an hour by default, longer than any build.
 *
 * @throws RoleError
 */
export async function assumeRole(role: string, token: string): Promise<S3Credentials> {
  const options = { roleArn: role, roleSessionName: 'mountglass', webIdentityToken: token }
  try {
    const assumed = await fromWebToken({ ...options, clientConfig: { requestHandler: TIMEOUTS } })()
    const { accessKeyId, secretAccessKey, sessionToken } = assumed
    return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) }
  } catch (cause) {
    const { name, message } = cause as Error
    throw new RoleError(`cannot assume the role ${role}: check that it trusts this workflow (${name}: ${message})`, { cause })
  }
}

/**
 * Adds the role's credentials to every bucket without `MOUNTGLASS_PRIVATE_AWS_*` credentials. `AWS_*` credentials in the environment are not
 * used: they may belong to another step.
 */
export function withRole(settings: InfraSettings, role: S3Credentials): InfraSettings {
  const { store, privateStore } = settings
  return {
    ...settings,
    store: store.kind === 's3' ? { ...store, credentials: role } : store,
    privateStore: privateStore && { ...privateStore, credentials: privateStore.credentials ?? role },
  }
}
