import { messageKeyOf } from '../errors.ts'
import { scrubbed } from '../scrubbed.ts'
import type { PROBLEMS } from './problems-en.ts'
import { ENGLISH_SPEECH, fill, type Speech } from './speech.ts'

export { messageKeyOf }

/** A sentence of the catalogue with its values. The code that prints it chooses the language. */
export interface Sentence {
  key: keyof typeof PROBLEMS
  values: Values
}

/** A text is the same in every language. A sentence or an error is said in the language of the whole. */
type Values = Readonly<Record<string, string | number | Sentence | Message>>

/** An error, or what an answer says of one. With a sentence, or the code of an answer, it can be said in another language. */
interface Message {
  message: string
  code?: unknown
  sentence?: Sentence
}

export function sentence(key: Sentence['key'], values: Values = {}): Sentence {
  return { key, values }
}

/** Without credentials of URLs that its values quote. */
export function tell({ key, values }: Sentence, speech: Speech): string {
  const told = Object.entries(values).map(([name, value]) => {
    if (typeof value !== 'object') return [name, value] as const
    return [name, 'key' in value ? tell(value, speech) : messageIn(value, speech)] as const
  })
  return scrubbed(fill(speech.words.problems[key], Object.fromEntries(told)))
}

/** An error that says a sentence. Its `message` is English, for logs and for programs. */
export class SentenceError extends Error {
  readonly sentence: Sentence

  constructor(said: Sentence, options?: ErrorOptions) {
    super(tell(said, ENGLISH_SPEECH), options)
    this.sentence = said
  }
}

/** The message of an error for a person. What has neither a sentence nor a message of the catalogue, such as an error of the system, stays as it is, but for credentials. */
export function messageIn(error: unknown, speech: Speech): string {
  const { sentence: said, code, message } = (error ?? {}) as Partial<Message>
  if (said !== undefined) return tell(said, speech)
  if (message === undefined) return scrubbed(String(error))
  const key = messageKeyOf(code, message)
  return key === null ? scrubbed(message) : (speech.words.errors[key] ?? message)
}

/** What ended a command, in one line. An error without a sentence is one that nobody foresaw. */
export function failureIn(error: unknown, speech: Speech): string {
  // Not by its class: the bundles of the program hold it once each.
  if ((error as Partial<Message> | null)?.sentence !== undefined) return firstLine(messageIn(error, speech))
  const { message, code } = (error instanceof AggregateError ? (error.errors[0] ?? error) : (error ?? {})) as Partial<Message>
  return tell(sentence('unexpected', { reason: firstLine(message || String(code ?? error)) }), speech)
}

/** Programs such as git say more than one. */
function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
