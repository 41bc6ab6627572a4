import type { Handlers } from '#api/http/endpoint.ts'
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
}

/** The answers of this process. */
export function ownAnswers(handlers: Pick<Handlers, AskedEndpoint>, { hosts, knowsLocal }: OwnReading): Answers {
  return {
    pauseMs: 50,
    atOnce: 4,
    async get(name, address, query) {
      const handle = handlers[name] as (call: object) => Promise<unknown>
      const { query: schema, answer } = ENDPOINTS[name]
      let subject: Address | null = null
      try {
        subject = parseAddress(address, hosts)
        const call = { subject, query: schema.parse(query), body: null, viewer: OWN_PROCESS }
        return answer.parse(await handle(call)) as never
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        if (!knowsLocal && isMissingLocal(error, subject)) {
          const { owner, repository } = subject
          throw new UnansweredError('service.local_not_read', t('problem.localNotRead', { owner, repository }), { cause: error })
        }
        throw new UnansweredError(error.code, saidOfOwnReading(error, subject), { cause: error })
      }
    },
  }
}
