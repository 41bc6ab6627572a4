import { expect, test } from 'vitest'
import { withRole } from '#cli/action/role.ts'
import { parseInfraSettings } from '#infra/infra-settings.ts'

const ROLE = { accessKeyId: 'lent', secretAccessKey: 'lent-secret', sessionToken: 'for-an-hour' }

test('every bucket is accessed with the role, except one with its own credentials', () => {
  const stores = { MOUNTGLASS_STORE: 's3:acme-skills', MOUNTGLASS_PRIVATE_STORE: 's3:acme-private' }
  expect(withRole(parseInfraSettings(stores), ROLE)).toMatchObject({
    store: { bucket: 'acme-skills', credentials: ROLE },
    privateStore: { bucket: 'acme-private', credentials: ROLE },
  })
  const own = { MOUNTGLASS_PRIVATE_AWS_ACCESS_KEY_ID: 'own', MOUNTGLASS_PRIVATE_AWS_SECRET_ACCESS_KEY: 'own-secret' }
  expect(withRole(parseInfraSettings({ ...stores, ...own }), ROLE)).toMatchObject({
    store: { credentials: ROLE },
    privateStore: { credentials: { accessKeyId: 'own', secretAccessKey: 'own-secret' } },
  })
  expect(withRole(parseInfraSettings({ MOUNTGLASS_STORE: 's3:acme-skills' }), ROLE).privateStore).toBeNull()
})
