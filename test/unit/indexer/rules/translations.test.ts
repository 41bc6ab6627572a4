import { describe, expect, test } from 'vitest'
import { DESCRIPTION_CHARACTERS, MANIFEST_NAME_CHARACTERS, TRANSLATION_TAGS } from '#core/limits.ts'
import { canonicalLanguage, parseYamlMapping, readTranslations, type YamlValue } from '#indexer/rules/front-matter.ts'

describe('language tags', () => {
  test.each([
    ['de', 'de'],
    ['EN-us', 'en-US'],
    ['pt-br', 'pt-BR'],
    ['pt_BR', 'pt-BR'],
    ['zh_hant_tw', 'zh-Hant-TW'],
    ['iw', 'he'],
    [' fr ', 'fr'],
    ['gsw', 'gsw'],
    ['en-x-plain', 'en-x-plain'],
    ['english', null],
    ['e', null],
    ['x-plain', null],
    ['', null],
    ['*', null],
    ['de-', null],
    ['de--AT', null],
    ['de AT', null],
    ['d\u0435', null],
    ['__proto__', null],
  ])('%j is %j', (tag, canonical) => {
    expect(canonicalLanguage(tag)).toBe(canonical)
  })
})

describe('translations', () => {
  test.each<[string, YamlValue | undefined, object, boolean]>([
    ['absent', undefined, {}, true],
    ['an empty map', {}, {}, true],
    ['a name alone', { de: { name: 'Redaktion' } }, { de: { name: 'Redaktion' } }, true],
    ['a description alone', { de: { description: 'Texte.' } }, { de: { description: 'Texte.' } }, true],
    ['other fields stay out', { de: { name: 'R', body: 'x' } }, { de: { name: 'R' } }, true],
    [
      'tags in their canonical form',
      { 'pt-br': { name: 'a' }, zh_CN: { name: 'b' } },
      { 'pt-BR': { name: 'a' }, 'zh-CN': { name: 'b' } },
      true,
    ],
    ['an invalid tag', { deutsch: { name: 'R' }, fr: { name: 'F' } }, { fr: { name: 'F' } }, false],
    ['a word instead of a map', { de: 'Redaktion' }, {}, false],
    ['neither name nor description', { de: { title: 'x' } }, {}, false],
    ['a name that is a list', { de: { name: ['x'], description: 'y' } }, { de: { description: 'y' } }, true],
    ['a list', ['de'], {}, false],
    ['a word', 'de', {}, false],
    ['hidden characters', { de: { name: 'a\u202Eb\nc' } }, { de: { name: 'ab c' } }, true],
  ])('%s', (_name, declared, translations, valid) => {
    expect(readTranslations(declared)).toEqual({ translations, valid })
  })

  test('long words are cut', () => {
    const { translations } = readTranslations({ de: { name: 'ä'.repeat(500), description: '🌱'.repeat(5_000) } })
    expect([...(translations.de?.name ?? '')]).toHaveLength(MANIFEST_NAME_CHARACTERS)
    expect([...(translations.de?.description ?? '')]).toHaveLength(DESCRIPTION_CHARACTERS)
  })

  test('tags beyond the bound are left out', () => {
    const declared = Object.fromEntries(
      Array.from({ length: TRANSLATION_TAGS + 1 }, (_, index) => [`en-x-${index}`, { name: 'x' }]),
    )
    const { translations, valid } = readTranslations(declared)
    expect({ tags: Object.keys(translations).length, valid }).toEqual({ tags: TRANSLATION_TAGS, valid: false })
  })

  test('a key named __proto__ is a tag like any other, and none', () => {
    const parsed = parseYamlMapping('__proto__: { name: evil }\nde: { name: R }\n')
    expect(readTranslations(parsed.ok ? parsed.mapping : {})).toEqual({ translations: { de: { name: 'R' } }, valid: false })
  })
})
