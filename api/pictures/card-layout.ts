import type { ContainerNode, ImageNode, Node, TextNode } from '@takumi-rs/core'
import { CARD_HEIGHT, CARD_WIDTH, type CardModel, cutMiddle, isRightToLeft, withBreaks } from './card.ts'
import { MONO } from './card-fonts.ts'
import { primaryOf } from './card-words.ts'
import { INK, LINE, MUTE, PAPER, RUBRIC, SLATE, SLATE_WASH } from './colours.ts'

/** Name under which the layout refers to the picture of the owner. */
export const OWNER_PICTURE = 'owner'

export interface CardLook {
  card: CardModel
  hasPicture: boolean
}

const MARGIN = 72
const SPINE_WIDTH = 40
const SPINE_GAP = 48
const TITLE_SIZE = 64
const DESCRIPTION_SIZE = 33
const FACTS_SIZE = 28
const ADDRESS_SIZE = 30
const PICTURE_SIZE = 88
/** Characters that fit beside a picture: on one line of the address, and, where ref and path share the second line, of each of them. */
const LINE_CHARACTERS = 46
const REF_CHARACTERS = 20
const PATH_CHARACTERS = 22
/** Titles with more characters are set smaller. */
const LONG_TITLE = 44

type Style = NonNullable<ContainerNode['style']>

/** The card as boxes: the spine in three inks at the side where lines begin, the address, the title, what it says of itself, the facts. */
export function layoutCard(look: CardLook): Node {
  const { card } = look
  const isMirrored = isCardRightToLeft(card)
  return box(
    {
      width: CARD_WIDTH,
      height: CARD_HEIGHT,
      backgroundColor: PAPER,
      color: INK,
      flexDirection: isMirrored ? 'row-reverse' : 'row',
      ...padding(0, MARGIN),
    },
    [
      spine(),
      box({ width: SPINE_GAP, flexShrink: 0 }, []),
      box({ flexDirection: 'column', flexGrow: 1, flexBasis: 0, minWidth: 0, height: CARD_HEIGHT, ...padding(56, 0) }, [
        head(look, isMirrored),
        box({ flexDirection: 'column', flexGrow: 1, justifyContent: 'center', width: '100%' }, [
          ...(card.title === '' ? [] : [title(card, isMirrored)]),
          ...(card.description === null ? [] : [description(card.description, isMirrored)]),
        ]),
        foot(card, isMirrored),
      ]),
    ],
  )
}

function isCardRightToLeft({ title, factsLang }: CardModel): boolean {
  return isRightToLeft(title) || ['ar', 'he'].includes(primaryOf(factsLang))
}

function head(look: CardLook, isMirrored: boolean): Node {
  const { card, hasPicture } = look
  const picture: Node[] = hasPicture
    ? [
        {
          type: 'image',
          src: OWNER_PICTURE,
          width: PICTURE_SIZE,
          height: PICTURE_SIZE,
          style: { ...square(PICTURE_SIZE), borderRadius: 12 },
        },
      ]
    : card.address === null
      ? [symbol(PICTURE_SIZE)]
      : []
  const gap = picture.length > 0 ? [box({ width: 28, flexShrink: 0 }, [])] : []
  return box(
    { flexDirection: isMirrored ? 'row-reverse' : 'row', alignItems: 'center', width: '100%', minHeight: PICTURE_SIZE },
    [
      ...picture,
      ...gap,
      box(
        { flexGrow: 1, flexBasis: 0, minWidth: 0, flexDirection: 'column', alignItems: isMirrored ? 'flex-end' : 'flex-start' },
        [address(card, isMirrored)],
      ),
    ],
  )
}

/** Two lines in a font whose characters are equally wide. Always from left to right: an address is not text of a language. */
function address({ address, place }: CardModel, isMirrored: boolean): Node {
  const mono: Style = { fontFamily: MONO, fontSize: ADDRESS_SIZE, lineHeight: 1.4, direction: 'ltr', whiteSpace: 'nowrap' }
  if (address === null) return words(place ?? '', { ...mono, color: MUTE })
  const { host, path } = address
  const isLong = `${host}/${address.owner}/${address.repository}`.length > LINE_CHARACTERS
  const owner = isLong ? cutMiddle(address.owner, 16) : address.owner
  const repository = isLong ? cutMiddle(address.repository, LINE_CHARACTERS - 2 - host.length - owner.length) : address.repository
  const ref = address.ref === null ? null : `@${cutMiddle(address.ref, REF_CHARACTERS)}`
  const isRefBelow = ref !== null && `${host}/${owner}/${repository}${ref}`.length + 2 > LINE_CHARACTERS
  const chip = (text: string) =>
    words(text, {
      ...mono,
      color: SLATE,
      backgroundColor: SLATE_WASH,
      borderRadius: 6,
      marginLeft: isRefBelow ? 0 : 8,
      ...padding(0, 10),
    })
  const line: Style = { flexDirection: 'row', alignItems: 'center', direction: 'ltr' }
  const first = [
    words(`${host}/${owner}/`, { ...mono, color: MUTE }),
    words(repository, { ...mono, fontWeight: 700, color: INK }),
    ...(ref === null || isRefBelow ? [] : [chip(ref)]),
  ]
  const second = [
    ...(ref !== null && isRefBelow ? [chip(ref)] : []),
    ...(path === ''
      ? []
      : [words(`/${cutMiddle(path, isRefBelow ? PATH_CHARACTERS : LINE_CHARACTERS - 1)}`, { ...mono, color: MUTE })]),
  ]
  return box({ flexDirection: 'column', alignItems: isMirrored ? 'flex-end' : 'flex-start', direction: 'ltr' }, [
    box(line, first),
    ...(second.length === 0 ? [] : [box(line, second)]),
  ])
}

function title({ title }: CardModel, isMirrored: boolean): Node {
  const size = [...title].length > LONG_TITLE ? TITLE_SIZE * 0.8 : TITLE_SIZE
  return words(withBreaks(title), {
    fontSize: size,
    fontWeight: 700,
    lineHeight: 1.3,
    width: '100%',
    ...aligned(title, isMirrored),
    ...clamp(2),
  })
}

function description(text: string, isMirrored: boolean): Node {
  return words(withBreaks(text), {
    fontSize: DESCRIPTION_SIZE,
    lineHeight: 1.45,
    color: MUTE,
    width: '100%',
    marginTop: 16,
    ...aligned(text, isMirrored),
    ...clamp(3),
  })
}

function foot({ facts }: CardModel, isMirrored: boolean): Node {
  const fact: Style = { fontSize: FACTS_SIZE, lineHeight: 1.4, color: INK, flexShrink: 0 }
  const shown = facts.flatMap((text, index) => [
    ...(index > 0 ? [words('·', { ...fact, color: MUTE, ...padding(0, 14) })] : []),
    words(text, { ...fact, direction: isRightToLeft(text) ? 'rtl' : 'ltr' }),
  ])
  const direction = isMirrored ? 'row-reverse' : 'row'
  return box(
    {
      flexDirection: direction,
      width: '100%',
      justifyContent: 'space-between',
      alignItems: 'center',
      borderTop: `2px solid ${LINE}`,
      paddingTop: 22,
    },
    [
      box({ flexDirection: direction, flexGrow: 1, flexBasis: 0, minWidth: 0, alignItems: 'center', overflow: 'hidden' }, shown),
      box({ flexDirection: 'row', alignItems: 'center', flexShrink: 0 }, [
        symbol(30),
        words('Mountglass', { fontSize: FACTS_SIZE, lineHeight: 1.4, fontWeight: 600, color: INK, marginLeft: 12 }),
      ]),
    ],
  )
}

/** The thread of the pages: rules, skill and included files, each with its node. */
function spine(): Node {
  const part = CARD_HEIGHT / 3
  return box({ flexDirection: 'column', width: SPINE_WIDTH, flexShrink: 0, height: CARD_HEIGHT, alignItems: 'center' }, [
    ...[RUBRIC, INK, SLATE].map(colour =>
      box({ flexDirection: 'column', alignItems: 'center', width: SPINE_WIDTH, height: part }, [
        box({ width: 6, height: (part - SPINE_WIDTH) / 2, backgroundColor: colour }, []),
        box({ ...square(SPINE_WIDTH), borderRadius: SPINE_WIDTH / 2, border: `6px solid ${colour}` }, []),
        box({ width: 6, height: (part - SPINE_WIDTH) / 2, backgroundColor: colour }, []),
      ]),
    ),
  ])
}

/** A ring on a thread. */
function symbol(size: number): Node {
  const thread = box({ width: size * 0.09, height: size * 0.25, backgroundColor: RUBRIC }, [])
  const ring = box({ ...square(size * 0.5), borderRadius: size, border: `${size * 0.12}px solid ${RUBRIC}` }, [])
  return box({ ...square(size), flexDirection: 'column', alignItems: 'center', flexShrink: 0 }, [thread, ring, thread])
}

function aligned(text: string, isMirrored: boolean): Style {
  return {
    // Korean has spaces between words, and breaks lines there.
    wordBreak: /\p{Script=Hangul}/u.test(text) ? 'keep-all' : 'normal',
    direction: isRightToLeft(text) ? 'rtl' : 'ltr',
    textAlign: isMirrored ? 'right' : 'left',
  }
}

function clamp(lines: number): Style {
  return { lineClamp: lines, textOverflow: 'ellipsis', overflow: 'hidden' } as Style
}

function square(size: number): Style {
  return { width: size, height: size }
}

function padding(block: number, inline: number): Style {
  return { paddingTop: block, paddingBottom: block, paddingLeft: inline, paddingRight: inline }
}

function box(style: Style, children: Node[]): ContainerNode {
  return { type: 'container', style: { display: 'flex', boxSizing: 'border-box', ...style }, children }
}

function words(text: string, style: Style): TextNode {
  return { type: 'text', text, style: { overflowWrap: 'anywhere', ...style } }
}

/** The pictures of a layout. */
export function imagesOf(node: Node): ImageNode[] {
  if (node.type === 'image') return [node]
  return node.type === 'container' ? (node.children ?? []).flatMap(imagesOf) : []
}
