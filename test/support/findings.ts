import { expect } from 'vitest'
import type { ListedFinding } from '#core/contract/findings.ts'
import type { Checked, Finding } from '#indexer/check/schema.ts'
import type { TestApp } from './test-app.ts'

/** Every page of the findings of an address. */
export async function allFindings(app: TestApp, address: string, query: Record<string, string> = {}): Promise<ListedFinding[]> {
  const items: ListedFinding[] = []
  let cursor: string | null = null
  do {
    const page: { items: ListedFinding[]; nextCursor: string | null } = await app.askReady('findings', address, {
      ...query,
      limit: '200',
      ...(cursor === null ? {} : { cursor }),
    })
    items.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== null)
  return items
}

/** What the interface says of the folder that was checked: written a second time, from the report alone. Of a skill that is only described the sentence is free. */
export function expectedFindings(report: Checked): ListedFinding[] {
  const described = new Set(report.skills.filter(({ delivery }) => delivery.kind === 'described').map(({ path }) => path))
  const names = new Map(report.skills.map(({ path, name }) => [path, name]))
  const told = report.findings
    .filter(({ code }) => !OF_FOLDERS.has(code))
    .map(one => shown(one, described))
    .map(one => ({ ...one, ...(names.has(one.skill ?? one.path) && { name: names.get(one.skill ?? one.path) }) }))
  const unique = new Map(told.map(one => [JSON.stringify(one), one]))
  return [...unique.values()].sort(inOrder).map(one => (one.message === '' ? { ...one, message: expect.any(String) } : one))
}

const OF_FOLDERS: ReadonlySet<string> = new Set(['folder.links_unchecked', 'folder.unreadable', 'folder.not_checked_out'])
const LEVELS = ['look', 'breaks', 'style']

function shown({ severity: _, ...told }: Finding, described: ReadonlySet<string>): ListedFinding {
  const skill = told.skill ?? told.path
  if (!described.has(skill)) return told
  const { code, level, advice } = told
  return { code, level, path: skill, message: '', ...(advice === undefined ? {} : { advice }), skill }
}

function inOrder(left: ListedFinding, right: ListedFinding): number {
  return (
    LEVELS.indexOf(left.level) - LEVELS.indexOf(right.level) ||
    Buffer.compare(Buffer.from(left.path), Buffer.from(right.path)) ||
    (left.line ?? 0) - (right.line ?? 0) ||
    Buffer.compare(Buffer.from(left.code), Buffer.from(right.code)) ||
    Buffer.compare(Buffer.from(left.message), Buffer.from(right.message))
  )
}
