/** Codes of the warnings of a skill that no client can install. */
export const NOT_INSTALLABLE: ReadonlySet<string> = new Set([
  'skill.not_installable',
  'name.missing',
  'description.missing',
  'front_matter.missing',
  'front_matter.late',
  'front_matter.unterminated',
  'front_matter.invalid',
  'front_matter.repaired',
])
