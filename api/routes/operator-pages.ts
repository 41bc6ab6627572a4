import { ServiceError } from '#core/errors.ts'
import type { Deps } from '../deps.ts'
import type { Handlers } from '../http/endpoint.ts'

/** What the operator wrote: the showcase, and the legal pages. */
export function operatorHandlers(deps: Pick<Deps, 'operator'>): Pick<Handlers, 'showcase' | 'legal'> {
  return {
    showcase: async () => ({ items: [...deps.operator.showcase] }),
    async legal({ subject }) {
      const document = deps.operator.legal.find(({ kind }) => kind === subject)
      if (document === undefined) throw new ServiceError('legal.not_found')
      return document
    },
  }
}
