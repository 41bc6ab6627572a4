import type { Address } from '#core/address.ts'
import type { FailedAnswer, IndexingAnswer } from '#core/contract/shared.ts'
import { ServiceError } from '#core/errors.ts'
import { keepListed } from '../cards/list-on-visit.ts'
import type { Deps } from '../deps.ts'
import type { Handlers } from '../http/endpoint.ts'
import { openMount, type ReadyMount } from '../mount/open-mount.ts'
import { describeMount } from '../mount/overview.ts'
import { browseFolder } from '../reading/browse.ts'
import { readFilePage } from '../reading/file-page.ts'
import { findInMount } from '../reading/find.ts'
import { readSkillPage } from '../reading/skill-context.ts'
import { RankingBuffers } from '../search/ranking-buffers.ts'
import { openSearch } from '../search/section-reader.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'
import { ReplacedSnapshot } from '../snapshot/unavailable.ts'

/** The five endpoints over a mount: contract in, use case out. */
export function contentHandlers(deps: Deps): Pick<Handlers, 'mounts' | 'browse' | 'find' | 'skills' | 'files'> {
  const findDeps = { cursorKeys: deps.cursorKeys, rankingBuffers: new RankingBuffers() }
  return {
    mounts: address =>
      unlessReplaced(async () => {
        const mount = await openMount(deps, address)
        await keepListed(deps, mount)
        return describeMount(deps, mount)
      }),
    browse: (address, query) => onceReady(deps, address, mount => browseFolder(deps, mount, query)),
    find: (address, query) => {
      return onceReady(
        deps,
        address,
        mount => findInMount(findDeps, mount, query),
        snapshot => openSearch(snapshot),
      )
    },
    skills: (address, query) => onceReady(deps, address, mount => readSkillPage(deps, mount, query)),
    files: (address, query) => unlessReplaced(async () => readFilePage(deps, await openMount(deps, address), query)),
  }
}

/** A snapshot may be written anew while it is read, or have been since its header was kept in memory. Then all of it is read again, once. */
async function unlessReplaced<Answer>(read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ServiceError && error.cause instanceof ReplacedSnapshot) return await read()
    throw error
  }
}

/** Until the index is ready its state is the answer. */
function onceReady<Answer>(
  deps: Deps,
  address: Address,
  read: (mount: ReadyMount) => Promise<Answer>,
  readAhead?: (snapshot: Snapshot) => Promise<unknown>,
): Promise<Answer | IndexingAnswer | FailedAnswer> {
  return unlessReplaced(() => readOnceReady(deps, address, read, readAhead))
}

async function readOnceReady<Answer>(
  deps: Deps,
  address: Address,
  read: (mount: ReadyMount) => Promise<Answer>,
  readAhead?: (snapshot: Snapshot) => Promise<unknown>,
): Promise<Answer | IndexingAnswer | FailedAnswer> {
  const mount = await openMount(deps, address, readAhead)
  const { commit } = mount
  switch (mount.status) {
    case 'ready':
      return await read(mount)
    case 'indexing':
      return { status: 'indexing', commit }
    case 'failed':
      return { status: 'failed', commit, errorCode: mount.errorCode, retryAt: mount.retryAt }
  }
}
