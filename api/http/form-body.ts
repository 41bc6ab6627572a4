import type { FastifyInstance } from 'fastify'
import { ServiceError } from '#core/errors.ts'
import { MALFORMED, parseQueryString } from './raw-target.ts'

/** The fields of a form. */
export type FormFields = Readonly<Record<string, string>>

const FORM = 'application/x-www-form-urlencoded'

/** Has the routes of an instance take forms, and no other body. */
export function acceptForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(FORM, { parseAs: 'string' }, async (_request: unknown, body: string) => parseForm(body))
}

/** @throws ServiceError `request.invalid` for a form that is malformed, or has a field twice */
export function parseForm(body: string): FormFields {
  const fields = parseQueryString(body)
  const isPlain = Object.entries(fields).every(([name, value]) => name !== MALFORMED && typeof value === 'string')
  if (!isPlain) throw new ServiceError('request.invalid', { message: 'the form is malformed, or has a field twice' })
  return fields as FormFields
}
