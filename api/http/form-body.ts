import type { FastifyInstance } from 'fastify'
import { ServiceError } from '#core/errors.ts'
import { FORM_TYPE, parseForm } from '#core/form.ts'

/** The fields of a form, by name. */
export type FormFields = Readonly<Record<string, string>>

/** Has the routes of an instance take forms, and no other body. One that is malformed, or has a field twice, is `request.invalid`. */
export function acceptForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(FORM_TYPE, { parseAs: 'string' }, async (_request: unknown, body: string): Promise<FormFields> => {
    const form = parseForm(body)
    if (form === null) throw new ServiceError('request.invalid', { message: 'the form is malformed, or has a field twice' })
    return Object.fromEntries(form)
  })
}
