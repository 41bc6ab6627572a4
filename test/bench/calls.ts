import { joinSkill } from '#test/support/joined.ts'
import type { Service } from '#test/support/service.ts'

/** What of a repository is asked for; absent where nothing of the kind is served. */
export interface Paths {
  skill?: string
  file?: string
}

/** A skill and a file of a repository, both ready to be read. */
export async function choosePaths(service: Service, address: string): Promise<Paths> {
  const mount = await service.get('mounts', address)
  if (mount.index.status !== 'ready') throw new Error(`${address}: ${JSON.stringify(mount.index)}`)
  const skill = mount.index.skills.find(listing => !listing.describedOnly)?.path
  if (skill !== undefined) await joinSkill(service, address, skill)
  const file = mount.index.documents[0]?.path ?? skill
  return { ...(skill === undefined ? {} : { skill }), ...(file === undefined ? {} : { file }) }
}

/** What is answered of a repository, but for mounts: what a license withholds is refused, and left out here. */
export async function callPaths(service: Service, address: string): Promise<string[]> {
  const { skill, file } = await choosePaths(service, address)
  const paths = [
    `browse${address}`,
    `find${address}?query=${encodeURIComponent('writing tests for an agent')}`,
    ...(skill === undefined ? [] : [`skills${address}?path=${encodeURIComponent(skill)}`]),
    ...(file === undefined ? [] : [`files${address}?path=${encodeURIComponent(file)}`]),
  ].map(path => `/api/v1/${path}`)
  const answered = await Promise.all(paths.map(async path => (await fetch(`${service.baseUrl}${path}`)).ok))
  return paths.filter((_, index) => answered[index])
}
