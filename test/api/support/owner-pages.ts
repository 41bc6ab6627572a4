import { expect } from 'vitest'
import type { AnswerOf } from '#core/contract/endpoints.ts'
import { createOwnerListings, type OwnerListing } from '#core/owner-listings.ts'
import type { GitHost, HostRepository } from '#core/ports/git-host.ts'
import { answered } from '#test/support/answered.ts'
import type { Answer } from '#test/support/check-answer.ts'
import type { RepositoryOptions } from '#test/support/fake-github/world.ts'
import type { TestApp } from '#test/support/test-app.ts'

const skill = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\n---\nDo it.\n`
/** Files of skills of these names. */
export const skills = (...names: string[]) => Object.fromEntries(names.map(name => [`skills/${name}/SKILL.md`, skill(name)]))

/** An account of four repositories, three of them with skills. */
export const FILES = {
  'acme/tools': { 'LICENSE.md': 'All rights reserved.\n', ...skills('one') },
  'acme/kit': {
    'SKILLSET.md': '---\nname: Kit\ndescription: What we work with.\nimage: cover.png\n---\n',
    'cover.png': new Uint8Array(10),
    ...skills('a', 'b', 'c', 'd', 'e', 'f'),
  },
  'acme/plain': { 'README.md': '# Plain\n' },
  'acme/later': skills('x', 'y'),
}

export type Page = AnswerOf<'owners'>

/** The pages of accounts at the service of the test at hand. */
export function ownerPages(app: () => TestApp) {
  const ask = (owner = 'acme', query = ''): Promise<Answer> => app().get(`/api/v1/owners/gh/${owner}${query}`)

  const page = async (owner?: string, query?: string): Promise<Page> => {
    const { status, json, body } = await ask(owner, query)
    expect(status, body).toBe(200)
    return json as Page
  }

  /** Names that the first page shows, indexed and other ones. */
  const names = async (owner?: string) => {
    const { indexed = [], repositories } = await page(owner)
    return { indexed: indexed.map(({ repository }) => repository.name), others: repositories.map(({ name }) => name).sort() }
  }

  /** More repositories of the account, over the objects of one that is there. */
  async function addMany(count: number, options: Partial<RepositoryOptions> = {}): Promise<void> {
    const { gitDir } = await app().github.shown('acme', 'plain')
    for (let number = 1; number <= count; number++) {
      const pushedAt = new Date(Date.UTC(2020, 0, 1) + number * 1000).toISOString().replace('.000', '')
      app().github.repository({ owner: 'acme', name: `many-${number}`, gitDir }, { pushedAt, ...options })
    }
  }

  const openAll = async (...addresses: string[]) => {
    for (const address of addresses) await app().open(address)
  }

  /** What is listed of the account, as it is stored. */
  async function listed(): Promise<OwnerListing[]> {
    const account = await app().github.world.account('acme')
    const found = await createOwnerListings(app().states).of(`gh-${account?.id}`)
    return found.sort((left, right) => (left.name < right.name ? -1 : 1))
  }

  /** A repository of `acme` as the host describes it. */
  async function described(name: string): Promise<HostRepository> {
    const host = app().deps.hosts.find(({ segment }) => segment === 'gh') as GitHost
    return answered(await host.repository('acme', name))
  }

  return { ask, page, names, addMany, openAll, listed, described }
}
