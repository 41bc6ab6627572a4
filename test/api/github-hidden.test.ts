import { describe } from 'vitest'
import { byOwner, hiddenAsAbsent } from './support/hidden-repositories.ts'

describe.each([{ who: 'the owner', what: 'never opened', tokenOf: byOwner, isOpened: false }])(
  'a repository that was $what and is hidden now, with a token of $who',
  hiddenAsAbsent,
)
