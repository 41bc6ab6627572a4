/** A program in the place of the one that draws, which breaks at words that a test chooses. Its pictures are words. */

import type { DrawTask } from '#api/pictures/cards.ts'
import { serveTasks } from '#api/pictures/task-process.ts'

serveTasks(async ({ card, picture }: DrawTask) => {
  if (card.title.includes('CRASH')) process.abort()
  return Buffer.from(picture === null ? card.title : `${card.title} with a picture`)
})
