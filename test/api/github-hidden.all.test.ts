import { describe } from 'vitest'
import { byApp, byOwner, byOwnerThroughApp, byStranger, hiddenAsAbsent } from './support/hidden-repositories.ts'

describe.each([
  { who: 'the owner', what: 'opened while everyone saw it', tokenOf: byOwner, isOpened: true },
  { who: 'the owner, signed in by an app', what: 'never opened', tokenOf: byOwnerThroughApp, isOpened: false },
  { who: 'an app', what: 'never opened', tokenOf: byApp, isOpened: false },
  { who: 'a stranger', what: 'never opened', tokenOf: byStranger, isOpened: false },
  { who: 'a stranger', what: 'opened while everyone saw it', tokenOf: byStranger, isOpened: true },
])('a repository that was $what and is hidden now, with a token of $who', hiddenAsAbsent)
