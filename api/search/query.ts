import { analyze, type TermKind } from '#core/search/analyze.ts'
import { FULL } from './fixed-point.ts'

/** A term of a query. */
export interface QueryTerm {
  term: string
  kind: TermKind
  /** The same for the terms of one identifier, or of one run of characters. */
  group: number
  /** `FULL`, or less for a synonym, which the query itself does not contain. Synonyms are not respelled. */
  weight: number
}

/** Further words, identifiers and runs of characters are ignored. */
export const QUERY_GROUPS = 96
/** Further terms are ignored. */
export const QUERY_TERMS = 160

const SYNONYM_WEIGHT = FULL / 4

/**
 * The distinct terms of a query: those of its first `QUERY_GROUPS` words in order, then triples of characters, then synonyms; at most
 * `QUERY_TERMS` in all.
 *
 * A query has no operators: signs only separate words.
 */
export function planQuery(query: string): QueryTerm[] {
  const terms = new Map<string, QueryTerm>()
  const add = (term: QueryTerm) => {
    if (terms.size < QUERY_TERMS && !terms.has(term.term)) terms.set(term.term, term)
  }
  // The last term of each group: of an identifier the whole identifier.
  const words: string[] = []
  const triples: QueryTerm[] = []
  const visit = (term: string, kind: TermKind, group: number) => {
    if (group >= QUERY_GROUPS) return
    if (kind === 'triple') triples.push({ term, kind, group, weight: FULL })
    else add({ term, kind, group, weight: FULL })
    words[group] = term
  }
  analyze(query, visit, { triples: true })
  triples.forEach(add)
  for (const [index, term] of synonymsOf(words).entries()) {
    add({ term, kind: 'word', group: words.length + index, weight: SYNONYM_WEIGHT })
  }
  return [...terms.values()]
}

/**
 * Words and phrases that developers use as synonyms, mostly short forms. Each line of the table is one meaning.
 *
 * Only forms with one usual meaning in prose are listed. Names that are frequent in code (`msg`, `param`) would match unrelated items, and
 * similar spellings are the task of respelling. A change of the table changes the ranking: increase `RANKING_VERSION` with it.
 */
const SYNONYMS = `
pr = pull request
mr = merge request
k8s = kubernetes
ci = continuous integration
cd = continuous delivery
ci/cd = continuous integration
i18n = internationalization = internationalisation
l10n = localization = localisation
a11y = accessibility
o11y = observability
auth = authentication
authn = authentication
authz = authorization = authorisation
db = database
env = environment
config = configuration
repo = repository
docs = documentation
ts = typescript
js = javascript
py = python
rb = ruby
golang = go
csharp = c#
cpp = c++
regex = regular expression = regexp
postgres = postgresql
mongo = mongodb
tf = terraform
gh = github
gha = github action
aws = amazon web service
gcp = google cloud
vm = virtual machine
ui = user interface
ux = user experience
cli = command line
llm = large language model
ml = machine learning
nlp = natural language processing
rag = retrieval augmented generation
mcp = model context protocol
tdd = test driven development
bdd = behavior driven development
ddd = domain driven design
e2e = end to end
adr = architecture decision record
rfc = request for comment
orm = object relational mapping
crud = create read update delete
jwt = json web token
sso = single sign on
mfa = multi factor authentication
2fa = two factor authentication
rbac = role based access control
iac = infrastructure as code
slo = service level objective
sla = service level agreement
etl = extract transform load
ssr = server side rendering
ssg = static site generation
spa = single page application
pwa = progressive web app
a/b test = split test
perf = performance
deps = dependency
app = application
`

/** The terms of a phrase; of an identifier the whole identifier. */
type Phrase = readonly string[]

/** The synonyms of each phrase, by its words joined with spaces. */
const synonyms = readTable(SYNONYMS)
const LONGEST_WORDS = Math.max(...[...synonyms.keys()].map(key => key.split(' ').length))

/** The words of all synonyms of phrases in a query, in the order of the phrases. They can include words of the query. */
function synonymsOf(words: readonly string[]): string[] {
  return words.flatMap((_, start) => {
    const lengths = Array.from({ length: Math.min(LONGEST_WORDS, words.length - start) }, (_, index) => index + 1)
    return lengths.flatMap(length => synonyms.get(words.slice(start, start + length).join(' '))?.flat() ?? [])
  })
}

function readTable(table: string): Map<string, Phrase[]> {
  const found = new Map<string, Phrase[]>()
  for (const line of table.trim().split('\n')) {
    const phrases = line.split('=').map(phraseOf)
    for (const phrase of phrases) {
      const key = phrase.join(' ')
      found.set(key, [...(found.get(key) ?? []), ...phrases.filter(other => other !== phrase)])
    }
  }
  return found
}

function phraseOf(text: string): Phrase {
  const words: string[] = []
  analyze(text, (term, _kind, group) => {
    words[group] = term
  })
  return words
}
