/** What a browser calls itself, in names that this table has: nothing else of its text is kept or shown. */
export interface BrowserName {
  name: string
  /** `null`: not in the table. */
  system: string | null
}

/** The first that is in the text counts: browsers name those, too, whose pages they can show. */
const BROWSERS: readonly (readonly [mark: string, name: string])[] = [
  ['Edg/', 'Edge'],
  ['EdgA/', 'Edge'],
  ['EdgiOS/', 'Edge'],
  ['OPR/', 'Opera'],
  ['OPT/', 'Opera'],
  ['Vivaldi/', 'Vivaldi'],
  ['SamsungBrowser/', 'Samsung Internet'],
  ['Firefox/', 'Firefox'],
  ['FxiOS/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Chromium/', 'Chromium'],
  ['CriOS/', 'Chrome'],
  ['Safari/', 'Safari'],
]
const SYSTEMS: readonly (readonly [mark: string, name: string])[] = [
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iPadOS'],
  ['Windows NT', 'Windows'],
  ['CrOS', 'ChromeOS'],
  ['Macintosh', 'macOS'],
  ['Linux', 'Linux'],
]
/** Browsers need a fifth of it. */
const READ_CHARACTERS = 1000

/** @param userAgent the header of a request @returns `null` for what is no browser of the table */
export function browserName(userAgent: string | undefined): BrowserName | null {
  const text = (userAgent ?? '').slice(0, READ_CHARACTERS)
  const named = (table: typeof BROWSERS) => table.find(([mark]) => text.includes(mark))?.[1] ?? null
  const name = named(BROWSERS)
  return name === null ? null : { name, system: named(SYSTEMS) }
}
