/** The program of the process that draws cards. */

import { drawCard } from './draw-card.ts'
import { serveTasks } from './serve-tasks.ts'

serveTasks(drawCard)
