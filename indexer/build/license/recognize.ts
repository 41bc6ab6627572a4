/**
 * What a licence text is.
 * `known`: the text of this licence, unchanged in what it permits. `restricted`: says itself that it reserves rights.
 * `unknown`: anything else, modified licences and several licences in one file included.
 */
export type RecognizedText = { kind: 'known'; id: string } | { kind: 'restricted' } | { kind: 'unknown' }

/** Never throws; the time is bounded whatever the text. */
export declare function recognizeLicenseText(text: string): RecognizedText
