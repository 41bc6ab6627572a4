import { DE } from './de/de.ts'
import { EN, type Words } from './en/en.ts'
import type { Language } from './languages.ts'

/** Every word of the pages that is not of a repository, by language. */
export const WORDS: Readonly<Record<Language, Words>> = { en: EN, de: DE }
