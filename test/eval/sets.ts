import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const Question = z.object({
  /** Class: how the question was made. */
  cls: z.string(),
  query: z.string(),
  /** Canonical paths, any of which is a right answer. */
  expected: z.array(z.string()).min(1),
})
export type Question = z.infer<typeof Question>

const QuestionSet = z.object({
  /** Directory of a corpus repository. */
  corpus: z.string(),
  queries: z.array(Question).min(1),
})

/** Questions over one repository. */
export interface NamedSet extends z.infer<typeof QuestionSet> {
  name: string
  /** Its targets gate. The questions of the project are reported beside them. */
  gates: boolean
}

/** Sets beside the project, as data. Absent outside its own CI. */
const SHIPPED = join(import.meta.dirname, '..', '..', '..', 'shared', 'search')
const OWN = join(import.meta.dirname, 'questions.json')

export function readSets(): NamedSet[] {
  const files = existsSync(SHIPPED) ? readdirSync(SHIPPED).filter(file => file.endsWith('.json')) : []
  const shipped = files.sort().map(file => {
    return { ...QuestionSet.parse(readJson(join(SHIPPED, file))), name: file.replace(/\.json$/, ''), gates: true }
  })
  const own = z.array(QuestionSet).parse(readJson(OWN))
  return [...shipped, ...own.map(set => ({ ...set, name: 'own questions', gates: false }))]
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}
