/** Texts of a repository, and the pages of its files. */
export const FILES = {
  text: {
    views: 'Text view',
    rendered: 'Rendered',
    exact: 'Exact text',
    tooLarge: 'This text is too large to be drawn. This is its exact text.',
    unavailable: 'This text cannot be drawn now. This is its exact text; load the page again to have it drawn.',
    table: 'table',
    footnotes: 'Footnotes',
    backTo: 'back to {n}',
    done: 'done',
    toDo: 'to do',
    image: 'image: {name}',
    noDescription: 'no description',
  },
  file: {
    isSkill: 'This is the file alone. [Open it as a skill](skill) to see the rules and files that an agent receives with it.',
    isManifest:
      'This is a manifest. An agent receives its text as a [rule](rules) before [every skill below its folder](folder).',
    thisFile: 'This file',
    theText: 'the text',
    raw: 'Raw',
    permalink: 'Permalink',
    empty: 'This file is empty.',
    end: 'This is the end of the file.',
    pages: 'Pages of this file',
  },
  withheld: {
    title: 'This text is not shown',
    /** By the kind of the license. */
    reasons: {
      none: 'No license was found for this file, so nothing permits a copy.',
      unknown: 'Its license is not one that is known to permit a copy.',
      restricted: 'Its license, {license}, permits no copy.',
    },
    /** For a file whose license is unknown here, since the list of its folder does not include it. */
    unlisted: 'No license that is known permits a copy of this file.',
    receives: 'An agent receives its path and its title, never its text.',
    skillReceives: 'An agent receives its path, its name and its description, never its text.',
    next: 'What you can do',
    originalAbout: 'The git host shows it under its own terms.',
    folder: '[See what else is in {path}](folder)',
    author: 'If the repository is yours: [declare a license that permits a copy](licenses).',
    found: '[What was found here](diagnostics) says which file was read as its license.',
  },
  /** Differences of files. */
  fileChanges: {
    /** Why a side shows no text of a file, by the code of the error. */
    refusals: {
      'file.not_text': 'not text',
      'file.too_large': 'too large to show',
      'file.not_served': 'withheld: no license permits a copy',
    },
    refused: 'cannot be read now',
    sameText: 'Its text is the same.',
    onlyExecutable: 'Its text is the same: only its executable bit changed.',
    files: 'Supporting files',
    ownPage: 'The differences of these files have pages of their own:',
    pageOf: 'page {n} of {all}',
    openFile: 'open the file',
  },
} as const
