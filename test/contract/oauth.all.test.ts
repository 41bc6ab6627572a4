import { carelessStates } from '#test/support/careless-store.ts'
import { describeDrivers, LOCAL_STATE_STORES, SERVER_STATE_STORES } from '#test/support/store-drivers.ts'
import { oauthContract } from './oauth-contract.ts'

describeDrivers('codes and tokens', SERVER_STATE_STORES, oauthContract)

const CARELESS = [...LOCAL_STATE_STORES, ...SERVER_STATE_STORES].map(driver => ({
  ...driver,
  driver: `${driver.driver}, that says of writes that they failed`,
  open: async (folder: string) => carelessStates(await driver.open(folder), 0.3),
}))
describeDrivers('codes and tokens', CARELESS, oauthContract)
