import type { z } from 'zod'
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
        const asked = schema.safeParse(query)
        if (!asked.success) throw await refused(asked.error.issues, query)
        const call = { subject, query: asked.data, body: null, viewer: OWN_PROCESS }
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

/** What the interface says of a query that breaks its rules, as one without words. */
async function refused(issues: readonly z.core.$ZodIssue[], query: object): Promise<ServiceError> {
  const { explainArguments } = await import('#api/http/error-handler.ts')
  return new ServiceError('request.invalid', { message: explainArguments(issues, query as Readonly<Record<string, unknown>>) })
}
