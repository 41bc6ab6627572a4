/** A file before may have indexed a large repository in this process, which then kept its heap small (`indexer/pipeline/heap.ts`). */
import { setFlagsFromString } from 'node:v8'

setFlagsFromString('--semi-space-growth-factor=2')
setFlagsFromString('--heap-growing-percent=0')
