import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Node, Renderer } from '@takumi-rs/core'
import { extractEmojis } from '@takumi-rs/helpers/emoji'
import { CARD_HEIGHT, CARD_WIDTH, type CardModel } from './card.ts'
import { MONO, openCardFonts } from './card-fonts.ts'
import { imagesOf, layoutCard, OWNER_PICTURE, textsOf } from './card-layout.ts'
import type { DrawTask } from './drawer.ts'

/** Of decoded pictures: those of owners differ from card to card. */
const CACHE_BYTES = 8 * 1024 * 1024
/** The share of a text's characters that may be missing in the fonts. A text with more missing characters is left out. */
const MISSING_SHARE = 0.2

const renderer = new Renderer({ cacheMaxBytes: CACHE_BYTES })
const fonts = openCardFonts()
const EMOJI_FOLDER = dirname(createRequire(import.meta.url).resolve('@twemoji/svg/1f600.svg'))
const emoji = new Map<string, Promise<Uint8Array | null>>()

/** Draws a card as PNG. */
export async function drawCard({ card, picture }: DrawTask): Promise<Uint8Array> {
  const families = fonts.familiesFor(card.lang ?? card.factsLang)
  const shown = withoutMissing(card, families)
  const layout = extractEmojis(
    layoutCard({ card: shown, families: families.join(', '), hasPicture: picture !== null }),
    'twemoji',
  )
  const images = await loadImages(layout, picture)
  const texts = textsOf(layout)
  await fonts.load(texts, families, font => renderer.registerFont(font))
  await fonts.load([...texts, '…'], [MONO, ...families], font => renderer.registerFont(font))
  return await renderer.render(layout, {
    width: CARD_WIDTH,
    height: CARD_HEIGHT,
    format: 'png',
    images,
    fontFamilies: [...families, MONO],
    lang: card.lang ?? card.factsLang,
  })
}

/** The card without the characters that no font has; without the text when that is most of it. */
function withoutMissing(card: CardModel, families: readonly string[]): CardModel {
  const readable = (text: string): string | null => {
    const pictured = asPictures(text)
    const missing = new Set(fonts.missingIn(pictured.replace(EMOJI, ''), families))
    const characters = [...pictured]
    const kept = characters.filter(character => !missing.has(character))
    return characters.length - kept.length > characters.length * MISSING_SHARE ? null : kept.join('')
  }
  const { title, plainTitle, description } = card
  return { ...card, title: readable(title) ?? plainTitle, description: description === null ? null : readable(description) }
}

/** Has symbols that may be text or emoji drawn as emoji: fonts lack most of them, whatever their lists of ranges say. */
function asPictures(text: string): string {
  return text.replace(/(?!\p{Emoji_Presentation})\p{Extended_Pictographic}(?:\ufe0e|(?![\ufe0f\u200d]))/gu, written =>
    (written.codePointAt(0) ?? 0) < FIRST_SYMBOL ? written : `${written.replace('\ufe0e', '')}\ufe0f`,
  )
}

/** Signs and arrows below it are in the fonts. */
const FIRST_SYMBOL = 0x2300

const EMOJI = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|[\u{e0020}-\u{e007f}]|\u200d|\ufe0f|\u20e3/gu

/** The pictures that a layout names. One that is not there is an empty one, which draws nothing. */
async function loadImages(layout: Node, picture: Uint8Array | null): Promise<{ src: string; data: Uint8Array }[]> {
  const names = new Set(imagesOf(layout).map(({ src }) => String(src)))
  return await Promise.all(
    [...names].map(async src => ({ src, data: src === OWNER_PICTURE && picture ? picture : ((await loadEmoji(src)) ?? EMPTY) })),
  )
}

const EMPTY = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>')

/** The drawing of an emoji from its package, by the end of the URL that the helper made; the network is not asked. */
function loadEmoji(url: string): Promise<Uint8Array | null> {
  const name = /[0-9a-f-]+\.svg$/.exec(url)?.[0] ?? ''
  const loading = emoji.get(name) ?? readFile(join(EMOJI_FOLDER, name)).catch(() => null)
  emoji.set(name, loading)
  return loading
}
