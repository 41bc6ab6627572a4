import { expect, test } from 'vitest'
import { QUERY_GROUPS, QUERY_TERMS } from '#api/search/query.ts'
import { ERROR_STATUS } from '#core/errors.ts'
import {
  ADDRESS_BYTES,
  ADDRESS_SEGMENTS,
  BROWSE_LIMIT,
  CARD_SKILL_NAMES,
  CHANGES_PAGE_BYTES,
  COMPATIBILITY_CHARACTERS,
  DESCRIPTION_CHARACTERS,
  DIAGNOSTICS_PER_ANSWER,
  DIFFERENCE_PAGE_BYTES,
  DOCUMENTS,
  EXCLUDE_PATTERN_CHARACTERS,
  EXCLUDE_PATTERNS,
  FALLBACK_DESCRIPTION_CHARACTERS,
  FILE_LIMIT_CHARACTERS,
  FIND_COPIES,
  FIND_FOLDED_FILES,
  FIND_LIMIT,
  FIND_QUERY_CHARACTERS,
  FROM_CHARACTERS,
  FRONT_MATTER_BYTES,
  FRONT_MATTER_VALUE_BYTES,
  INCLUDE_FILE_BYTES,
  INCLUDE_FILES,
  INCLUDE_TOTAL_BYTES,
  INDEX_PROCESSOR_SECONDS,
  INDEX_WALL_SECONDS,
  INDEXED_TEXT_BYTES,
  KEYWORD_CHARACTERS,
  KEYWORDS,
  LINK_HOPS,
  LINKED_ENTRIES,
  LISTED_REFS,
  LOCAL_PACKED_REFS_BYTES,
  LOCAL_REFS,
  LOCAL_SHALLOW_BYTES,
  MANIFEST_BYTES,
  MANIFEST_IMAGE_BYTES,
  MANIFEST_NAME_CHARACTERS,
  MANIFEST_UNKNOWN_FIELDS,
  MARKDOWN_CHARACTERS,
  OVERSIZED_FILES,
  OVERVIEW_DOCUMENTS,
  OVERVIEW_SKILLS,
  OWNER_CARDS,
  OWNER_PAGE,
  PATH_BYTES,
  RAW_FILE_BYTES,
  READABLE_FILE_BYTES,
  REFERENCE_DIRECTORY_FILES,
  REFERENCES,
  RULE_CHAIN_BYTES,
  RULE_CHAIN_MANIFESTS,
  SEARCHED_FILE_BYTES,
  SKILL_NAME_CHARACTERS,
  SKILL_PAGE_BYTES,
  SKILLS,
  SUMMARY_CHARACTERS,
  SUPPORTING_FILES,
  TITLE_CHARACTERS,
  TRANSLATION_TAGS,
  TREE_DEPTH_SEGMENTS,
  TREE_ENTRIES,
  WARNINGS_PER_SKILL,
  YAML_DEPTH,
} from '#core/limits.ts'
import { countCharacters, utf8Length } from '#core/text.ts'
import { LICENSE_TEXT_BYTES } from '#indexer/rules/license/index.ts'
import { textOf } from './example-files.ts'

test('the page of limits states the limits that hold', () => {
  const page = textOf('docs/limits.md')
  const bounds: [string, string][] = [
    ['address', `${words(ADDRESS_BYTES)} bytes, ${ADDRESS_SEGMENTS} segments`],
    ['`from` of a comparison', `${words(FROM_CHARACTERS)} characters`],
    ['`browse` `limit`', `${BROWSE_LIMIT.min} to ${BROWSE_LIMIT.max}, default ${BROWSE_LIMIT.default}`],
    ['`changes` `limit`', `${BROWSE_LIMIT.min} to ${BROWSE_LIMIT.max}, default ${BROWSE_LIMIT.default}`],
    ['items on one page of `changes`', mib(CHANGES_PAGE_BYTES)],
    ['difference of a skill on one page of `changes`', `${kib(DIFFERENCE_PAGE_BYTES)} of UTF-8`],
    ['`find` `limit`', `${FIND_LIMIT.min} to ${FIND_LIMIT.max}, default ${FIND_LIMIT.default}`],
    ['`find` `query`', `not blank, ${FIND_QUERY_CHARACTERS} characters`],
    ['matching files shown with a skill', `${FIND_FOLDED_FILES}, the rest counted in \`moreFiles\``],
    ['copies named with a skill', `${FIND_COPIES}, the rest counted in \`moreCopies\``],
    ['words of a query that count', `${QUERY_GROUPS}; ${QUERY_TERMS} terms with their parts and synonyms`],
    ['text of a skill on one page', `${kib(SKILL_PAGE_BYTES)} of UTF-8`],
    [
      '`files` `limit`',
      `${FILE_LIMIT_CHARACTERS.min} to ${words(FILE_LIMIT_CHARACTERS.max)} characters, default ${words(FILE_LIMIT_CHARACTERS.default)}`,
    ],
    ['readable file', mib(READABLE_FILE_BYTES)],
    ['raw file of a local repository', mib(RAW_FILE_BYTES)],
    ['lists of the overview', `${OVERVIEW_SKILLS} skills, ${OVERVIEW_DOCUMENTS} documents`],
    ['lists of refs', `${LISTED_REFS} branches, ${LISTED_REFS} tags`],
    ['diagnostics in one answer', `${DIAGNOSTICS_PER_ANSWER}`],
    ['`owners` `page`', `${OWNER_PAGE.min} to ${OWNER_PAGE.max}, default ${OWNER_PAGE.default}`],
    ['cards of an owner, skills named on a card', `${OWNER_CARDS}, ${CARD_SKILL_NAMES}`],
    [
      'front matter',
      `${kib(FRONT_MATTER_BYTES)}, ${YAML_DEPTH} levels; ${kib(FRONT_MATTER_VALUE_BYTES)} of each value are shown`,
    ],
    ['`SKILLSET.md`', `${kib(MANIFEST_BYTES)}; ${RULE_CHAIN_MANIFESTS} in one chain, ${kib(RULE_CHAIN_BYTES)} together`],
    ['includes of a skill', `${INCLUDE_FILES} files, ${kib(INCLUDE_FILE_BYTES)} each, ${kib(INCLUDE_TOTAL_BYTES)} together`],
    ['references', `${REFERENCES}; ${REFERENCE_DIRECTORY_FILES} files for a linked folder`],
    ['supporting files listed, files too large to read', `${SUPPORTING_FILES} and ${OVERSIZED_FILES} a skill`],
    ['warnings', `${WARNINGS_PER_SKILL} a skill`],
    ['exclude patterns', `${EXCLUDE_PATTERNS} a manifest, ${EXCLUDE_PATTERN_CHARACTERS} characters each`],
    ['unknown keys reported', `${MANIFEST_UNKNOWN_FIELDS} a manifest`],
    ['picture of a manifest', mib(MANIFEST_IMAGE_BYTES)],
    ['license text', kib(LICENSE_TEXT_BYTES)],
    ['name of a skill', `${SKILL_NAME_CHARACTERS} characters`],
    ['name of a manifest', `${MANIFEST_NAME_CHARACTERS} characters`],
    [
      'description',
      `${words(DESCRIPTION_CHARACTERS)} characters; ${FALLBACK_DESCRIPTION_CHARACTERS} of a first paragraph that stands in for it`,
    ],
    ['title, summary of a document', `${TITLE_CHARACTERS} and ${SUMMARY_CHARACTERS} characters`],
    ['`compatibility`', `${COMPATIBILITY_CHARACTERS} characters`],
    ['keywords and tags', `${KEYWORDS}, ${KEYWORD_CHARACTERS} characters each`],
    ['languages in `translations`', `${TRANSLATION_TAGS}`],
    ['path', `${words(PATH_BYTES)} bytes, ${TREE_DEPTH_SEGMENTS} segments`],
    ['entries of the tree', words(TREE_ENTRIES)],
    ['symbolic links', `${LINK_HOPS} in a row; ${words(LINKED_ENTRIES)} files and folders that they lead to`],
    ['skills, documents', `${words(SKILLS)} and ${words(DOCUMENTS)}`],
    [
      'indexed text',
      `${mib(INDEXED_TEXT_BYTES)}, equal files counted once; of one file the first ${kib(SEARCHED_FILE_BYTES)} are searched`,
    ],
    ['title, headings and links of a Markdown file', `looked for in its first ${words(MARKDOWN_CHARACTERS)} characters`],
    ['time', `${INDEX_PROCESSOR_SECONDS} seconds of a processor, and ${INDEX_WALL_SECONDS} seconds`],
    ['local repository: branches and tags', `${words(LOCAL_REFS)}, and ${mib(LOCAL_PACKED_REFS_BYTES)} of \`packed-refs\``],
    ['local repository: end of a shallow history', `${mib(LOCAL_SHALLOW_BYTES)} of \`shallow\``],
  ]
  const rows = page.split('\n').filter(line => /^\| [^|]/.test(line) && !line.startsWith('| |'))
  expect(rows).toEqual(bounds.map(([what, value]) => `| ${what} | ${value} |`))
})

test('the page of errors lists every code with its status', () => {
  const rows = textOf('docs/errors.md').matchAll(/^\| (\d{3}) \| (.*?) \|/gm)
  const listed = [...rows].flatMap(([, status, codes = '']) =>
    [...codes.matchAll(/`([a-z_.]+)`/g)].map(match => [match[1], Number(status)]),
  )
  const addresses = [...textOf('docs/addresses.md').matchAll(/`(address\.[a-z_]+)`/g)].map(match => [match[1], 400])
  expect(Object.fromEntries([...listed, ...addresses])).toEqual(ERROR_STATUS)
})

test('the lengths in example answers are those of the shown files', () => {
  const page = textOf('reading/read-by-rest/references/answers.md')
  const glossary = textOf('translated-de/glossar.md')
  expect(page).toContain(`"totalLength": ${countCharacters(glossary)}`)
  expect(page).toContain(`"size": ${utf8Length(glossary)}`)
  const style = countCharacters(textOf('shared/style.md'))
  expect(textOf('reading/read-by-rest/SKILL.md')).toContain(`"length": ${style}, "totalLength": ${style}`)
})

/** A number as the pages write it. */
function words(count: number): string {
  return count.toLocaleString('en-US')
}

function kib(bytes: number): string {
  return `${bytes / 1024} KiB`
}

function mib(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`
}
