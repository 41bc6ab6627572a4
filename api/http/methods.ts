import { ENDPOINTS, type EndpointMethod } from '#core/contract/endpoints.ts'

/** The methods of the endpoint table. */
export const METHODS: readonly EndpointMethod[] = [...new Set(Object.values(ENDPOINTS).map(({ method }) => method))]

/** The methods that routes of these answer: a route for GET answers HEAD as well. */
export function answeredMethods(methods: readonly EndpointMethod[]): string[] {
  return methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
}
