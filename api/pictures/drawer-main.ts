/** The program of the process that draws cards. */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Node, Renderer } from '@takumi-rs/core'
import { extractEmojis } from '@takumi-rs/helpers/emoji'
import { CARD_HEIGHT, CARD_WIDTH, type CardModel } from './card.ts'
import { inOrder, type LoadedFont, MONO, openCardFonts } from './card-fonts.ts'
import { imagesOf, layoutCard, OWNER_PICTURE } from './card-layout.ts'
import type { DrawTask } from './cards.ts'
import { serveTasks } from './task-process.ts'

/** Of decoded pictures: those of owners differ from card to card. */
const CACHE_BYTES = 8 * 1024 * 1024
/** The share of a text's characters that may be missing in the fonts. A text with more missing characters is left out. */
const MISSING_SHARE = 0.2

const renderer = new Renderer({ cacheMaxBytes: CACHE_BYTES })
const fonts = openCardFonts()
const EMOJI_FOLDER = dirname(createRequire(import.meta.url).resolve('@twemoji/svg/1f600.svg'))
const emoji = new Map<string, Promise<Uint8Array | null>>()
const registered = new Map<LoadedFont, Promise<unknown>>()

/** Draws a card as PNG. What was drawn before has no part in it. */
async function drawCard({ card, picture }: DrawTask): Promise<Uint8Array> {
  const families = fonts.familiesFor(card.lang ?? card.factsLang)
  const shown = await withoutMissing(card, families)
  const layout = extractEmojis(layoutCard({ card: shown, hasPicture: picture !== null }), 'twemoji')
  const images = await loadImages(layout, picture)
  const needed = new Set<LoadedFont>()
  const drawable = await withDrawableTexts(layout, families, needed)
  await register(needed)
  return await renderer.render(drawable, {
    width: CARD_WIDTH,
    height: CARD_HEIGHT,
    format: 'png',
    images,
    // The renderer knows those of other cards, too.
    fontFamilies: inOrder(needed, [...families, MONO]).map(({ name }) => name),
    lang: card.lang ?? card.factsLang,
  })
}

/**
 * The layout with texts that the fonts have, each set in its own fonts.
 *
 * @param needed receives these fonts
 * @param isInAddress an address has a font before the others
 */
async function withDrawableTexts(
  node: Node,
  families: readonly string[],
  needed: Set<LoadedFont>,
  isInAddress = false,
): Promise<Node> {
  const isAddress = isInAddress || node.style?.fontFamily === MONO
  if (node.type === 'container') {
    const children = (node.children ?? []).map(child => withDrawableTexts(child, families, needed, isAddress))
    return { ...node, children: await Promise.all(children) }
  }
  if (node.type !== 'text') return node
  const own = isAddress ? [MONO, ...families] : families
  // A line that is cut ends with an ellipsis.
  const [matched, ellipsis] = await Promise.all([
    fonts.match(node.text, own, { substitute: isAddress ? '…' : '' }),
    fonts.match('…', own),
  ])
  const its = inOrder([...matched.fonts, ...ellipsis.fonts], own)
  for (const font of its) needed.add(font)
  return { ...node, text: matched.text, style: { ...node.style, fontFamily: its.map(({ name }) => name).join(', ') } }
}

/** Has the renderer know the fonts. It keeps them: cards of one script need the same ones. */
async function register(needed: ReadonlySet<LoadedFont>): Promise<void> {
  await Promise.all(
    [...needed].map(font => {
      const registering =
        registered.get(font) ?? renderer.registerFont({ name: font.name, data: font.data, unicodeRange: font.unicodeRange })
      registered.set(font, registering)
      return registering
    }),
  )
}

/** The card without texts that consist mostly of characters that no font has. In other texts such characters are left out when the card is drawn. */
async function withoutMissing(card: CardModel, families: readonly string[]): Promise<CardModel> {
  const readable = async (text: string): Promise<string | null> => {
    const pictured = asPictures(text)
    const { missingShare } = await fonts.match(pictured.replace(EMOJI, ''), families)
    return missingShare > MISSING_SHARE ? null : pictured
  }
  const { title, plainTitle, description } = card
  return {
    ...card,
    title: (await readable(title)) ?? plainTitle,
    description: description === null ? null : await readable(description),
  }
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

serveTasks(drawCard)
