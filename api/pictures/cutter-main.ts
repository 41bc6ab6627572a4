/** The program of the process that decodes pictures of strangers. */

import { cutPicture } from './cut-picture.ts'
import { serveTasks } from './serve-tasks.ts'

serveTasks(cutPicture)
