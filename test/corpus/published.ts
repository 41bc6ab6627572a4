/**
 * What an independent survey of the same commits found (PyYAML, an own walk of the trees, regular expressions for links), for the
 * repositories of the corpus. Columns that speak of what the index knows too.
 */
export interface Published {
  skills: number
  /** Skills inside the folder of another. */
  nested: number
  /** Bytes of the largest `SKILL.md`, in kB. */
  largestKilobytes: number
  badYaml: number
  /** No front matter, or no end of it. */
  noFrontMatter: number
  noName: number
  otherFolder: number
  invalidName: number
  duplicate: number
  /** Links to files, to folders, to nothing. */
  links: readonly [number, number, number]
  /** Links in bodies that lead to nothing. */
  broken: number
  /** Open, restricted, unknown, none. */
  licenses: readonly [number, number, number, number]
}

const CLEAN = { nested: 0, badYaml: 0, noFrontMatter: 0, noName: 0, otherFolder: 0, invalidName: 0, duplicate: 0, broken: 0 }
const open = (skills: number) => ({ skills, licenses: [skills, 0, 0, 0] as const })

/** By name of the archive. Absent: the survey says nothing but what the listings say. */
export const PUBLISHED: Readonly<Record<string, Published>> = {
  obra__superpowers: { ...CLEAN, ...open(14), largestKilobytes: 28.1, links: [1, 0, 0] },
  apollographql__skills: { ...CLEAN, ...open(14), largestKilobytes: 21.6, links: [1, 1, 0] },
  expo__skills: { ...CLEAN, ...open(26), largestKilobytes: 48.5, links: [1, 0, 0] },
  getsentry__skills: { ...CLEAN, skills: 27, licenses: [24, 0, 3, 0], largestKilobytes: 16.0, links: [1, 1, 0] },
  'kepano__obsidian-skills': { ...CLEAN, ...open(5), largestKilobytes: 13.0, links: [0, 0, 0] },
  'supabase__agent-skills': { ...CLEAN, ...open(1), largestKilobytes: 2.6, links: [2, 0, 0] },
  'muratcankoylan__Agent-Skills-for-Context-Engineering': {
    ...CLEAN,
    ...open(13),
    nested: 12,
    otherFolder: 1,
    largestKilobytes: 17.6,
    links: [0, 0, 0],
    broken: 2,
  },
  wshobson__agents: { ...CLEAN, ...open(181), otherFolder: 1, largestKilobytes: 26.4, links: [1, 0, 0], broken: 13 },
  'microsoft__agent-skills': { ...CLEAN, ...open(165), nested: 5, largestKilobytes: 28.6, links: [0, 1, 122], broken: 6 },
  stripe__ai: { ...CLEAN, ...open(48), duplicate: 48, largestKilobytes: 28.2, links: [4, 0, 0] },
  'getsentry__sentry-javascript': { ...CLEAN, ...open(17), largestKilobytes: 33.2, links: [1, 1, 0] },
  apache__opendal: { ...CLEAN, ...open(1), largestKilobytes: 30.9, links: [191, 0, 0] },
  'affaan-m__everything-claude-code': {
    ...open(771),
    nested: 0,
    badYaml: 17,
    noFrontMatter: 5,
    noName: 0,
    otherFolder: 11,
    invalidName: 0,
    duplicate: 743,
    largestKilobytes: 31.5,
    links: [0, 0, 0],
    broken: 108,
  },
  openclaw__skills: {
    skills: 2417,
    licenses: [2411, 1, 5, 0],
    nested: 159,
    badYaml: 49,
    noFrontMatter: 127,
    noName: 4,
    otherFolder: 504,
    invalidName: 55,
    duplicate: 446,
    largestKilobytes: 128.5,
    links: [0, 0, 0],
    broken: 57,
  },
}

/** Where the index says something else, and why. */
export const DIFFERENCES: Readonly<Record<string, Partial<Published>>> = {
  // The three skills whose license is unknown are not in the archive.
  getsentry__skills: { skills: 24, licenses: [24, 0, 0, 0] },
  // The survey counts every link: one target twice, two links inside a code span, and one more. A skill is warned once of each target,
  // and of code spans that ask for a file which it lacks.
  wshobson__agents: { broken: 19 },
  // Four links that lead to themselves: the survey counts them by the name they bear, which is there; here they end nowhere.
  // The skills with repeated names are copies of each other.
  stripe__ai: { duplicate: 0, links: [0, 0, 4] },
  // The archive holds 423 of the 771 skills, chosen by folder. Names that are repeated between translations go by what is left of them.
  // Broken links: at most 20 warnings a skill; the survey's are mostly in one translated skill of many that lack their references.
  'affaan-m__everything-claude-code': {
    ...open(423),
    badYaml: 4,
    noFrontMatter: 1,
    otherFolder: 5,
    duplicate: 316,
    broken: 23,
  },
  // The archive holds 344 skills: those with a defect or nested, without eight whose license is another, and their neighbours; no file
  // above 90 kB.
  // Broken links: also code spans that ask for a file, most of them in three copies of one skill without its references.
  // Two more begin with text, so their front matter comes late. Two without front matter and one each with bad YAML and without a name are among the eight. A repaired block also has a name,
  // which may differ from its folder or be repeated; the survey reads names only where the YAML is right.
  openclaw__skills: {
    ...open(344),
    nested: 121,
    badYaml: 48,
    noFrontMatter: 123,
    noName: 2,
    largestKilobytes: 78.8,
    otherFolder: 39,
    invalidName: 7,
    duplicate: 12,
    broken: 29,
  },
}
