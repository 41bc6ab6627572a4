/**
 * Version of the stored format, part of the header's key: snapshots of another version are ignored and built again.
 *
 * 1: packs of gzip members, sorted tables in shards, a header last.
 * 2: a search section, read by range, replaces the search tables.
 * 3: commits share packs, which end with a directory of their records; the search section may consist of several segments.
 * 4: digests of files and contexts, and a table of what clients install.
 * 5: the tokens of what skills deliver.
 * 6: a table of what is delivered, by digest, which two commits are compared by.
 * 7: that table tells files whose bytes are not held by their blobs.
 * 8: each copy of a skill names its original; packages name what some clients refuse.
 * 9: facts have lines and commands and are of every served file; which hosts a commit links to; the include list of every file that may declare one;
 *    findings are values of sentences, not messages.
 * 10: a table of findings with their lines; what lies in the tree and is not listed, with the reason why agents do not get it; the files that agents
 *    read before any skill.
 */
export const FORMAT_VERSION = 10

/**
 * Version of the reading rules, part of the header's key and of every cursor. Increases with every change of the delivered content.
 *
 * 1: the first rules.
 * 2: nothing but front matter, top heading and name is told of a text that may not be copied; a malformed `include` leaves a skill incomplete;
 *    a mount inside a skill lists the skill's Markdown files.
 * 3: the files of a skill whose front matter could not be read are not copied, nor those below a malformed package file or an unreadable link
 *    that may declare a license; references are cut after those that cannot be read are dropped;
 *    includes of a manifest are told of the manifest; documents precede code and data of skills; pictures do not count; the README of a
 *    described skill is told by its title.
 * 4: digests of files and of whole skills; skills that clients cannot install say why.
 * 5: the budget of skills: bytes, tokens and pages.
 * 6: words of restriction are not looked for in names and addresses, and licenses are read where and as people declare them; front matter is
 *    read field by field where it is not YAML; packages are what `npx skills` takes; copies are no duplicates; symbolic links are read as their
 *    targets; references in code are checked; a job that runs out of time leaves out files.
 * 7: a license, an offer or a section that says more than an open license does is unknown; what links give keeps to the limits of a path; copies
 *    have the same includes, manifests and licenses.
 * 8: a file of a package may be as large as its package.
 */
export const RULES_VERSION = 8

/**
 * Version of the search terms and postings, part of the header's key: snapshots of another version are ignored and built again.
 *
 * 1: the first analyzer.
 * 2: places and impacts in a posting, keywords, triples of characters.
 * 3: the ending of a contraction is not a word.
 * 4: the same terms, packed in less time.
 * 5: stop words precede the other terms, and blocks keep the boundaries of the previous commit.
 * 6: the length of a text is rounded to three binary digits.
 * 7: the head says which skills are copies of which, and what lies in folders for tests.
 */
export const SEARCH_VERSION = 7
