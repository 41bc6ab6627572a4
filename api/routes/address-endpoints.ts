import type { FailedAnswer, IndexingAnswer } from '#core/contract/shared.ts'
import { listOnVisit } from '../cards/list-on-visit.ts'
import type { Deps } from '../deps.ts'
import type { Call, Handlers } from '../http/endpoint.ts'
import { listRefs } from '../mount/list-refs.ts'
import { answerFromMount, type BeforeReading, type OpenMount, type ReadyMount } from '../mount/open-mount.ts'
import { describeMount } from '../mount/overview.ts'
import { BrowsePosition, browseFolder } from '../reading/browse.ts'
import { answerChanges } from '../reading/changes.ts'
import { requireCursorForm } from '../reading/cursor.ts'
import { readFilePage } from '../reading/file-page.ts'
import { FindPosition, findInMount } from '../reading/find.ts'
import { FindingsPosition, listFindings } from '../reading/findings.ts'
import { readSkillPage, SkillPosition } from '../reading/skill-context.ts'
import { readHistory } from '../reading/skill-history.ts'
import { RankingBuffers } from '../search/ranking.ts'
import { openSearch } from '../search/section-reader.ts'

type AddressEndpoint = 'mounts' | 'browse' | 'findings' | 'find' | 'skills' | 'files' | 'changes' | 'history' | 'refs'

export type AddressHandlers = { [Name in AddressEndpoint]: NonNullable<Handlers[Name]> }

/** The endpoints over a mount: contract in, use case out. */
export function addressHandlers(deps: Deps): AddressHandlers {
  const withMount = <Answer>(
    call: Call<AddressEndpoint>,
    answer: (mount: OpenMount) => Promise<Answer>,
    readAhead?: BeforeReading['readAhead'],
  ): Promise<Answer> => {
    const { onSource, signal } = call
    const answerUnlessGone = (mount: OpenMount) => {
      signal?.throwIfAborted()
      return answer(mount)
    }
    return answerFromMount(deps, call, answerUnlessGone, {
      ...(onSource && { onReady: onSource }),
      ...(readAhead && { readAhead }),
    })
  }

  const rankingBuffers = new RankingBuffers()
  return {
    mounts: call =>
      // Made of what the host and the operator say now, too.
      answerFromMount(deps, call, async mount => {
        await listOnVisit(deps, mount)
        return describeMount(deps, mount)
      }),
    browse: async call => {
      requireCursorForm(call.query.cursor, BrowsePosition)
      return withMount(
        call,
        onceReady(mount => browseFolder(deps, mount, call.query)),
      )
    },
    findings: async call => {
      requireCursorForm(call.query.cursor, FindingsPosition)
      return withMount(
        call,
        onceReady(mount => listFindings(deps, mount, call.query)),
      )
    },
    find: async call => {
      requireCursorForm(call.query.cursor, FindPosition)
      return withMount(
        call,
        onceReady(mount => findInMount({ cursorKeys: deps.cursorKeys, rankingBuffers }, mount, call.query)),
        openSearch,
      )
    },
    skills: async call => {
      requireCursorForm(call.query.cursor, SkillPosition)
      return withMount(
        call,
        onceReady(mount => readSkillPage(deps, mount, call.query, call.pageBytes)),
      )
    },
    history: call =>
      // Made of what the host tells now, too.
      answerFromMount(
        deps,
        call,
        onceReady(mount => readHistory(mount, call.query)),
      ),
    refs: ({ viewer, subject }) => listRefs(deps, viewer, subject),
    files: call => withMount(call, mount => readFilePage(deps, mount, call.query)),
    changes: call => answerChanges(deps, call),
  }
}

/** Until the index is ready, its state is the answer. */
function onceReady<Answer>(read: (mount: ReadyMount) => Promise<Answer>) {
  return async (mount: OpenMount): Promise<Answer | IndexingAnswer | FailedAnswer> => {
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
}
