import type { z } from 'zod'
import type { Handlers } from '#api/http/endpoint.ts'
import type { FindLikeCommits } from '#api/mount/like-commits.ts'
import { OWN_PROCESS } from '#api/people/viewer.ts'
import { type Address, parseAddress } from '#core/address.ts'
import { ENDPOINTS } from '#core/contract/endpoints.ts'
import { ServiceError } from '#core/errors.ts'
import { t } from '#words/t.ts'
import { type Answers, type AskedEndpoint, UnansweredError } from './answers.ts'
import { isMissingLocal, saidOfOwnReading } from './own-reading.ts'

interface OwnReading {
  /** Host segments that this process serves. */
  hosts: readonly string[]
  /** Whether a setting names the folder of local repositories. Without it, this process cannot know which there are. */
  knowsLocal: boolean
  findLikeCommits: FindLikeCommits
}

/** The answers of this process. */
export function ownAnswers(handlers: Pick<Handlers, AskedEndpoint>, { hosts, knowsLocal, findLikeCommits }: OwnReading): Answers {
  return {
    pauseMs: 50,
    atOnce: 4,
    async get(name, address, query) {
      const handle = handlers[name] as (call: object) => Promise<unknown>
      const { query: schema, answer } = ENDPOINTS[name]
      let subject: Address | null = null
      try {
        subject = parseAddress(address, hosts)
        const asked = schema.safeParse(query)
        if (!asked.success) throw await refused(asked.error.issues, query)
        const call = { query: asked.data, body: null, viewer: OWN_PROCESS }
        const answered = await atWholeHash(subject, findLikeCommits, of => handle({ ...call, subject: of }))
        return answer.parse(answered) as never
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        if (!knowsLocal && isMissingLocal(error, subject)) {
          const { owner, repository } = subject
          throw new UnansweredError('service.local_not_read', t('problem.localNotRead', { owner, repository }), { cause: error })
        }
        const { directories } = error.details
        throw new UnansweredError(error.code, saidOfOwnReading(error, subject), { cause: error, directories })
      }
    },
  }
}

/** Asks again with the whole hash, where the ref is the beginning of one commit's. @throws ServiceError */
async function atWholeHash<Answer>(
  address: Address,
  findLikeCommits: FindLikeCommits,
  ask: (address: Address) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await ask(address)
  } catch (error) {
    const isMissing = error instanceof ServiceError && error.code === 'mount.ref_not_found'
    const [commit, ...others] = isMissing ? await findLikeCommits(OWN_PROCESS, address, address.ref ?? '') : []
    if (commit === undefined || others.length > 0) throw error
    return await ask({ ...address, ref: commit })
  }
}

/** What the interface says of a query that breaks its rules, as one without words. */
async function refused(issues: readonly z.core.$ZodIssue[], query: object): Promise<ServiceError> {
  const { explainArguments } = await import('#api/http/error-handler.ts')
  return new ServiceError('request.invalid', { message: explainArguments(issues, query as Readonly<Record<string, unknown>>) })
}
