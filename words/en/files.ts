/** Texts of a repository, and the pages of its files. */
export const FILES = {
  text: {
    views: 'Text view',
    rendered: 'Rendered',
    exact: 'Exact text',
    tooLarge: 'This text is too large to render. This is the exact text.',
    unavailable: 'This text cannot be rendered now. This is the exact text. [Try again](again)',
    table: 'table',
    footnotes: 'Footnotes',
    backTo: 'back to {n}',
    done: 'done',
    toDo: 'to do',
    image: 'image: {name}',
    noDescription: 'no description',
  },
  file: {
    isSkill: 'This is the file alone. [Open the skill](skill) to see the rules and files that agents get with it.',
    isManifest: 'Agents get the text of this file as a [rule](rules) before [every skill of its folder](folder).',
    governs: 'This file governs {n} of {skills}.',
    governsAtLeast: 'This file governs at least {n} of {skills}.',
    declares: 'Line {line} of this file declares the license {license}, for {n} of {skills}.',
    declaresAtLeast: 'Line {line} of this file declares the license {license}, for at least {n} of {skills}.',
    isLink: '{path} is a link to [{target}](target).',
    theText: 'the text',
    raw: 'Raw',
    permalink: 'Permalink',
    empty: 'This file is empty.',
    end: 'This is the end of the file.',
    pages: 'Pages of this file',
  },
  withheld: {
    /** By the kind of the license. */
    reasons: {
      none: 'Text withheld: no license was found for it.',
      unknown: 'Text withheld: its license is not one that we recognize ({license}).',
      restricted: 'Text withheld: its license allows no copies ({license}).',
    },
    /** For a file whose license is unknown here, since the list of its folder does not include it. */
    unlisted: 'Text withheld: no license that we recognize allows copies of it.',
    receives: 'Agents get its path and title.',
    skillReceives: 'Agents get its name and description.',
    next: 'What you can do',
    folder: '[See what else is in {path}](folder)',
    author: 'If the repository is yours: [declare a license that allows copies](licenses).',
  },
  /** What is in the tree and not shown. */
  present: {
    folder: '{path} is a folder.',
    file: '{path} is a file, not a folder.',
    fileBelow: '{path} is a file: nothing lies below it.',
    noSkill: '{path} is a file, and not a skill that agents can load.',
    link: '{path} is a link to {target}.',
    linkNowhere: '{path} is a link, and what it leads to is not shown here.',
    submodule: '{path} is a submodule: another repository, whose files are not shown here.',
    picture: '{path} is a picture; pictures are not shown.',
    not_text: '{path} is not text, so it is not shown.',
    lfs: 'The text of {path} is kept in Git LFS: the repository has only a pointer to it.',
    too_large: '{path} is too large to show: a text has {limit} at most.',
    not_sent: '{path} is not sent to agents, so its text is not shown here.',
    hidden:
      '{path} is not sent to agents, so its text is not shown here: {hidden} is a hidden folder, whose documents are left out.',
    outside: 'This address shows only {folder}, and {path} lies outside of it.',
    open: '[Open {path}](open)',
    whole: '[Look for it in the whole repository](whole)',
    keptBack: 'This server keeps the original back as well.',
  },
  /** Differences of files. */
  fileChanges: {
    /** Why a side shows no text of a file, by the code of the error. */
    refusals: {
      'file.not_text': 'not text',
      'file.too_large': 'too large to show',
      'file.not_served': 'withheld: no license allows copies',
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
