/** Estimates what a text costs a model. */
export interface Tokenizer {
  /** Of the encoding: what a model really counts depends on the model. */
  name: string
  count(text: string): number
}

/** Loads the vocabulary, once: a fifth of a second and 75 MB, so only whoever counts calls it. */
export async function loadTokenizer(): Promise<Tokenizer> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  // Names of control tokens are plain words here, as in any text that a model is given.
  const options = { disallowedSpecial: new Set<string>() }
  return {
    name: 'o200k_base',
    count: text => cutLongRuns(text).reduce((sum, part) => sum + countTokens(part, options), 0),
  }
}

/** The tokenizer's time grows with the square of a run without a border, which ordinary text never makes this long. */
const RUN = /\S{512}|\s{512}/gu

function cutLongRuns(text: string): string[] {
  const parts: string[] = []
  let from = 0
  for (const { 0: run, index } of text.matchAll(RUN)) {
    parts.push(text.slice(from, index + run.length))
    from = index + run.length
  }
  parts.push(text.slice(from))
  return parts
}
