/** Words that are counted, by the plural category of the number. */
export const COUNTS = {
  skill: { one: '{n} skill', other: '{n} skills' },
  commit: { one: '{n} commit', other: '{n} commits' },
  document: { one: '{n} document', other: '{n} documents' },
  moreDocument: { one: '{n} more document', other: '{n} more documents' },
  publicRepository: { one: '{n} public repository', other: '{n} public repositories' },
  star: { one: '{n} star', other: '{n} stars' },
  place: { one: '{n} place', other: '{n} places' },
  file: { one: '{n} file', other: '{n} files' },
  text: { one: '{n} text', other: '{n} texts' },
  warning: { one: '{n} warning', other: '{n} warnings' },
  remark: { one: '{n} remark', other: '{n} remarks' },
  folderWithSkills: { one: '{n} folder with skills', other: '{n} folders with skills' },
  referenceTitle: { one: '{n} Reference', other: '{n} References' },
  supportingFile: { one: '{n} Supporting file', other: '{n} Supporting files' },
  character: { one: '{n} character', other: '{n} characters' },
  /** An estimate. */
  token: { one: '~{n} token', other: '~{n} tokens' },
  page: { one: '{n} page', other: '{n} pages' },
  byte: { one: '{n} byte', other: '{n} bytes' },
  day: { one: '{n} day', other: '{n} days' },
  second: { one: '{n} second', other: '{n} seconds' },
  minute: { one: '{n} minute', other: '{n} minutes' },
  hidden: {
    one: '{n} hidden character is marked in this text. An agent receives it like any other character.',
    other: '{n} hidden characters are marked in this text. An agent receives them like any other character.',
  },
} as const
