import type { ConstructorOptions } from 'pg-boss'
import { QueueMarker } from '#core/snapshot/index-state.ts'

/** pg-boss has a schema of its own, beside that of the state store. */
export const SCHEMA = 'mountglass_jobs'

/** Runs the statements of pg-boss. Several statements in one text run as one transaction. */
export type BossDatabase = NonNullable<ConstructorOptions['db']>

/** A job that waits or runs. */
export interface BossRow {
  id: string
  /** As `jobKey` returns it. */
  key: string
  isActive: boolean
  /** `null` when it cannot be parsed. */
  marker: QueueMarker | null
}

/** What pg-boss does not offer: its jobs by repository, and conditions that hold at the moment of a change. */
export class BossRows {
  readonly #db: BossDatabase
  readonly #queue: string

  constructor(db: BossDatabase, queue: string) {
    this.#db = db
    this.#queue = queue
  }

  /** Number of jobs that wait or run, of all repositories or of one. */
  async count(group?: string): Promise<number> {
    const [row] = await this.#select('count(*)::int AS count', group)
    return row.count
  }

  /** The jobs of a repository that wait or run. */
  async ofGroup(group: string): Promise<BossRow[]> {
    const rows = await this.#select(`id, singleton_key AS key, state = 'active' AS "isActive", data`, group)
    return rows.map(({ id, key, isActive, data }) => ({ id, key, isActive, marker: QueueMarker.safeParse(data).data ?? null }))
  }

  /** Removes the job, unless a worker has begun it. */
  async removeWaiting(id: string): Promise<void> {
    await this.#db.executeSql(`DELETE FROM ${SCHEMA}.job WHERE name = $1 AND id = $2 AND state < 'active'`, [this.#queue, id])
  }

  // biome-ignore lint/suspicious/noExplicitAny: the columns decide
  async #select(columns: string, group?: string): Promise<any[]> {
    const ofGroup = group === undefined ? '' : 'AND group_id = $2'
    const sql = `SELECT ${columns} FROM ${SCHEMA}.job WHERE name = $1 AND state <= 'active' ${ofGroup}`
    return (await this.#db.executeSql(sql, group === undefined ? [this.#queue] : [this.#queue, group])).rows
  }
}
