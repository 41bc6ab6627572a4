import { fill } from '../fill.ts'

/** What is wrong with the files of an operator's folder. In front of a sentence may stand the field and the file that it is about. */
const FAULTS = {
  notValid: 'is not valid',
  notYaml: 'is not YAML',
  noFolder: '{folder} is not a folder',
  noFile: 'is not a file in this folder',
  mediaTooLarge: 'makes the media larger than {limit} bytes in all',
  unreadable: 'cannot be read',
  tooLarge: 'is larger than {limit} bytes',
  notText: 'is not UTF-8 text',
  unknownField: 'is not a known field ({fields})',
  mustBeText: 'must be text',
  empty: 'must not be empty',
  tooManyCharacters: 'has more than {max} characters',
  // The featured addresses.
  addressForm: 'must be an address like /gh/acme/handbook',
  pictureName: 'must be the name of a picture in this folder',
  trueOrFalse: 'must be true or false',
  needsAddress: 'must have an address',
  addressList: 'must be a list of addresses',
  tooManyAddresses: 'has more than {limit} addresses',
  twice: '{address} is listed twice',
  // Pictures and clips.
  notPicture: 'is not a picture',
  notPictureOrClip: 'is not a picture or a clip',
  notAnimation: 'is not a GIF, WebP or PNG picture',
  notClip: 'is not an MP4 or WebM clip',
  pictureForm: 'is not a PNG, JPEG, GIF or WebP picture',
  mediumForm: 'is not a PNG, JPEG, GIF or WebP picture, nor an MP4 or WebM clip',
  brokenPicture: 'is not a whole picture',
  tooManyPixels: 'has {n} pixels; at most {limit} are served',
  behindPicture: 'has bytes behind the end of the picture',
  besidesPicture: 'is {what} besides being a picture',
  besidesClip: 'is {what} besides being a clip',
  brokenClip: 'is not a whole clip: it breaks off, or has bytes behind its end',
  clipSize: 'does not say its size and its duration; export it as a file, not as a recording',
  // The showcase.
  fileName: 'must be the name of a file in this folder',
  wordList: 'must be a list of words',
  tooManyWords: 'has more than {limit} words',
  needsWords: 'must have title, body and action',
  wholeNumber: 'must be a whole number',
  instant: 'must be an instant like {example}',
  needsPoster: 'must have a poster',
  needsTexts: 'must have texts by language',
  needsAll: 'must have address, position, media and texts',
  needsLanguage: 'must have at least one language',
  tooManyEntries: 'has more than {limit} entries',
  entryName: 'must be named by small letters, digits and hyphens',
  needsPublished: 'an entry with a clip needs published',
  languageTag: '{tag} is not a language tag like en or pt-BR',
  // Legal pages.
  date: 'must be a date like {example}',
  needsTitle: 'must have a title',
  legalName: 'must be named terms.<language>.md or privacy.<language>.md',
  frontMatter: 'must begin with front matter that has a title',
  noText: 'has no text below its front matter',
}

/** What is wrong with a file of an operator. */
export function faultOf(key: keyof typeof FAULTS, values: Readonly<Record<string, string | number>> = {}): string {
  return fill(FAULTS[key], values)
}
