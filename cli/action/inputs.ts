import { z } from 'zod'

/** An input is missing or wrong. The message names the input. */
export class InputError extends Error {}

const Service = z.string().transform((text, context): string | null => {
  if (text === '') return null
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol) && url.href.replace(/\/$/, '') === url.origin) return url.origin
  context.addIssue('must be an origin like https://skills.example.org')
  return z.NEVER
})

const Inputs = z
  .object({
    mode: z.enum(['prewarm', 'build', 'check', 'diff'], 'must be prewarm, build, check or diff'),
    service: Service,
    store: z.string().regex(/^(s3:.+)?$/, 'must be s3:<bucket> or s3:<bucket>/<prefix>'),
    role: z.string(),
    audience: z.string().min(1, 'must not be empty'),
    token: z.string(),
    from: z.string(),
    'fail-on': z.string(),
    checkout: z.string().min(1, 'must name a folder'),
    timeout: z
      .string()
      .regex(/^[1-9]\d{0,3}$/, 'must be a number of seconds, 1 to 3600')
      .transform(Number)
      .refine(seconds => seconds <= 3_600, 'must be a number of seconds, 1 to 3600'),
  })
  .superRefine(({ mode, service, store }, context) => {
    if (mode === 'prewarm' && service === null)
      context.addIssue({ code: 'custom', path: ['service'], message: 'is required in mode prewarm' })
    if (mode === 'build' && store === '')
      context.addIssue({ code: 'custom', path: ['store'], message: 'is required in mode build' })
  })

/** The inputs of the step; `action.yml` describes them and has the defaults. */
export type Inputs = z.infer<typeof Inputs>

/** @param inputOf returns the trimmed text of an input. @throws InputError */
export function readInputs(inputOf: (name: string) => string): Inputs {
  const names = Object.keys(Inputs.shape)
  const parsed = Inputs.safeParse(Object.fromEntries(names.map(name => [name, inputOf(name)])))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new InputError(`input ${String(issue?.path[0])}: ${issue?.message}`)
}
