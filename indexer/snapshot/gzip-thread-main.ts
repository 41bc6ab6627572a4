/** The program of a thread that compresses members. */

import { parentPort } from 'node:worker_threads'
import { gzipMemberAtOnce } from './gzip-member.ts'
import { type Batch, joinBatch, splitBatch } from './gzip-thread.ts'
import { followMainThread } from './main-thread-priority.ts'

parentPort?.on('message', (batch: Batch) => {
  followMainThread()
  const members = joinBatch(splitBatch(batch).map(gzipMemberAtOnce))
  parentPort?.postMessage(members, [members.bytes.buffer])
})
