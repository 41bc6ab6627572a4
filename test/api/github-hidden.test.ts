import { describe } from 'vitest'
import { byOwner, byStranger, hiddenAsAbsent } from './support/hidden-repositories.ts'

describe.each([
  { who: 'the owner', what: 'never opened', tokenOf: byOwner, isOpened: false },
  { who: 'a stranger', what: 'opened while everyone saw it', tokenOf: byStranger, isOpened: true },
])('with a token of $who, a repository that was $what and is hidden now', hiddenAsAbsent)
