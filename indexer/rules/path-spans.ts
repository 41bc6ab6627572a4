/**
 * Whether a code span clearly tells the reader to use a file of its skill, so that the file has to be there. It is in doubt where a sentence speaks of
 * an example, of a file that is to be made, or of another project; scripts and assets are also those of the project that the agent works on.
 *
 * @param before the text of the block up to the span
 * @param after the text of the block after it
 */
export function asksForSkillFile(span: string, before: string, after: string): boolean {
  const [, folder = ''] = PATH.exec(span) ?? []
  if (folder === '') return false
  const sentence = before.split(SENTENCE_END).at(-1) ?? ''
  if (IN_DOUBT.test(sentence) || IS_MADE.test(after)) return false
  if (REFERENCE_FOLDERS.test(folder)) return true
  return ONE_LEVEL.test(span) && (VERB.test(before) || (BEGINNING.test(before) && EXPLANATION.test(after)))
}

/** A text that names its own kind of file so often teaches how to write skills, and its paths are examples. */
export function teachesSkills(text: string): boolean {
  let named = 0
  for (let at = text.indexOf('SKILL.md'); at >= 0 && named < TEACHING; at = text.indexOf('SKILL.md', at + 1)) named++
  return named >= TEACHING
}

const TEACHING = 3

/** The folders that the convention of skills gives a meaning, and names that are like theirs. */
const PATH =
  /^(?:\.[\\/])?([Rr]eferences?|[Rr]esources|scripts|assets|templates|examples)[\\/](?:[\w@%+-][\w@%+.-]*[\\/])*[\w@%+-][\w@%+.-]*\.[A-Za-z]\w{0,9}$/
const REFERENCE_FOLDERS = /^re/i
const ONE_LEVEL = /^(?:\.[\\/])?[^\\/]+[\\/][^\\/]+$/
/** Of a table, a row. */
const SENTENCE_END = /[.!?。！？]\s|\n\|/
const IN_DOUBT =
  /\b(?:e\.?g\b|example\b|such as|like|would|could|create|creates|created|write|writes|save|saved|generates?|generated|outputs?|into|add|your|contains?|do not|don't|never|instead of|another|other)|['’]s\s*$|\bits\s*$/i
const IS_MADE = /^[^.!?]{0,40}\b(?:would|created?|generated|will be)\b/i
const VERB = /\b(?:run|runs|running|rerun|execute|use|uses|using|via|call|invoke|see|read|load|open|script|with|at)[\s*_("'“]*$/i
/** Of a block, a cell, or what stands behind a colon or a dash. */
const BEGINNING = /(?:^|[|:–—→•-])[\s*_("'“]*$/
/** What a list of files says of each: nothing, or an explanation. */
const EXPLANATION = /^[*_)"'”]*(?:\s*$|\s*[-–—:|(,;.\n])/
