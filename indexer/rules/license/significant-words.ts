/** Words that change what a license permits. All are in lower case, as `normalizeText` returns them. */

export const LATIN = /^[\p{Script=Latin}\p{N}\p{M}]+$/u

/** Words that restrict whatever stands beside them. */
const ABSOLUTE_WORDS = 'noncommercial* noderiv* nc nd proprietar* unlicensed confidential* eula'

/** Words that deny or demand, in the languages in which authors annotate licenses. */
const NEGATING_WORDS = `
  not no non nor none never nobody nothing cannot cant dont doesnt wont isnt arent neither only solely sole except* exclud* unless
  prohibit* forbid* forbade bans banned disallow* restrict* restrain* refus* den(?:y|ies|ied) revo(?:ke|kes|ked|cable|cably|cation) withhold* withheld
  must mustnt shall
  nicht kein* nur ohne verboten untersagt ausgenommen außer ausser unzulässig
  sauf uniquement seulement interdit* interdiction
  solamente únicamente unicamente prohibid* salvo excepto
  não nao proibid* somente apenas exceto
  soltanto vietat* eccetto senza
  niet geen alleen verboden uitgezonderd
  tylko zabronion* inte endast förbjud* ikke forbudt yasak* yalnızca
`

/** Subjects of restrictions. They restrict nothing in the name of a person or a company, and neither do short words that are names, too. */
const NAMING_WORDS = `
  nonprofit* commercial* secret* exclusive* pa(?:y|ys|id|ying|yment|yments|ywall) fee fees purchas* royalt* revenue* subscri* trial evaluation
  ai llm* ml gpt artificial train trains trained training trainings dataset* scrap(?:e|ed|es|ing|er|ers) crawl* generative
  weapon* military nuclear surveillance evil ethic* compet(?:e|es|ing|itor|itors|itive) saas
  gewerblich* kommerziell* comercial* commerciale* commerciali commercieel commerciële komercyjn* kommersiell* ticari
  ban pas sans solo sin nie bez kun ei vain
`

export const ABSOLUTE = wordList(ABSOLUTE_WORDS)
export const NEGATING = wordList(NEGATING_WORDS)
export const NAMING = wordList(NAMING_WORDS)

/** Words that restrict. */
export const FORBIDDING = wordList(`${ABSOLUTE_WORDS} ${NEGATING_WORDS} ${NAMING_WORDS}`)

export const FORBIDDING_ABROAD =
  /[禁不非仅僅只限勿]|商业|商用|商業|無断|許可|授权|授權|のみ|금지|상업|만|없이|^(?:не|ни|нет|без|только|кроме|лишь)$|запрещ|нельзя|коммерч|некоммерч|заборон|комерц|μη|απαγορ|אסור|ممنوع|تجاري|निषेध|ห้าม/u

/** Words for conditions, scopes and purposes: harmless in the terms of the license, not in an addition. */
export const CONDITIONAL = wordList(`
  use used uses using usage user users may should can could would need* requir* oblig* agree* accept* consent* approv* permission* permit* allow* grant*
  if when where whenever wherever until while however but notwithstanding although though despite otherwise instead whereas provided providing
  subject apply applies applied applicable additional* addition addendum amend* supplement* modif* rider clause* condition* term terms provision* following
  limit* terminat* expir* void reserv* right rights waive* exempt* supersed* overrid* replac* preced* prevail* govern* interpret* mean means defin* protect*
  third part parts party parties portion* section* image* picture* photo* artwork* logo* icon* font* media asset* content contents documentation docs text texts
  trademark* patent* warrant* indemn* liab* drm nda
  private* personal* individual* internal* business* companies enterprise* corporate organizations profit* monet* money price* buy* sell* sold sale sales resale resell* rent* lease* cost costs
  educat* academ* research* student* school* teach* hobby* demo evaluat* test testing
  service services cloud host hosted hosting machine learning intelligence model models mine mining neural
  law laws lawful* illegal* countr* export* sanction* harm* good moral* human* gambl* abuse violence hate war police state
  attribution acknowledg* credit advertis* notify notif* report* contact* written writing prior
  after day days week weeks month months year years hour hours seats employees
  derivat* redistribut* distribut* reproduc* copy copies copying publish publishing share sharing transfer* embed* bundle* incorporat* combin* deploy* run execut* access*
  agreement* contract contracts sharealike dual available
`)

/** Words that occur in sentences about permissions and not in names. */
export const SENTENCE = wordList(`
  use used uses using usage need* requir* may permission* agreement* contract* companies terms consent* approv* written prior provided if when
  subject apply applies allow* grant* agree*
`)

/** Words that address the reader, or take back what stands beside them. In a title they may have a capital, as names do. */
export const ADDRESSING = wordList(`
  ask call tell talk hire donat* pray inform request buy order join keep stay hands look touch take leave go stop please get read write
  member members customer customers subscriber* guests visitors readers reviewers employees partners clients buyers humans people persons robots bots friends sponsors patrons
  void null withdrawn cancel* closed close obsolete draft sample template placeholder pending deprecated outdated embargo* joke lie kidding ignore disregard forget
  leaked stolen classified gratis freemium shareware demoware nagware charityware careware visible old former* previous* earlier undecided todo tbd
  effective valid soon will choose start starts starting wrong scratch superceded postcardware beerware
`)

/** Words that speak of a license. */
export const LICENSING = /^(?:licens.*|clause|terms|under)$/

/** Words that name licenses. */
export const NAMES = wordList(`
  mit isc bsd apache gnu gpl* lgpl* agpl* mpl mozilla zlib unlicense cc cc0 creative creativecommons commons domain epl eclipse cddl eupl cecill artistic
  wtfpl boost bsl busl sspl elastic fsl polyform parity prosperity hippocratic json ofl sil openrail rail llama gemma confluent timescale redis rsal
  functional openssl php python ruby vim osl afl affero lesser mulan odbl pddl blueoak oak
`)

/** Words of the terms whose removal changes the permissions. */
export const ESSENTIAL = wordList(`
  not no non nor with without free freely charge fee any anyone anybody everyone every person persons third
  permission* permit* grant* allow* hereby may right rights use used uses using copy copies copying modify modification* modified merge publish* distribut* redistribut* sublicens* sell reproduc* sell* share* adapt*
  you waive* abandon* surrender* irrevocabl* permanent* fully unconditional* whole verbatim execute transmit compile alter* embed make made available binary
  prepare display perform derivative* commercial* noncommercial purpose* software work works material public perpetual worldwide royalty exclusive
  original covered licensed program library document deal unlimited restriction* limitation* except unless provided subject irrespective whether
`)

/** Matches whole words; `*` stands for any ending. */
function wordList(text: string): RegExp {
  const words = text
    .trim()
    .split(/\s+/)
    .map(word => word.replace('*', '[\\p{L}]*'))
  return new RegExp(`^(?:${words.join('|')})$`, 'u')
}
