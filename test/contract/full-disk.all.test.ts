import { expect, test } from 'vitest'
import { fillDisk, hasSmallDisks } from '#test/support/small-disk.ts'
import { temporaryFolder } from '#test/support/store-drivers.ts'

test.runIf(hasSmallDisks())(
  'on a full disk a write is refused and leaves nothing, and everything written before stays',
  async () => {
    expect(await fillDisk(await temporaryFolder())).toEqual({
      lastObject: 'ENOSPC',
      leftovers: [],
      objects: 'as acknowledged',
      object: 'ENOSPC',
      document: 'ERR_SQLITE_ERROR',
      replace: 'ERR_SQLITE_ERROR',
      kept: 'whole',
      objectsOfFullDisk: 'as acknowledged',
      keptAtNextOpening: 'whole',
      withRoom: ['created', 'written'],
      integrity: 'ok',
    })
  },
)
