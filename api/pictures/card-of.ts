import { ServiceError } from '#core/errors.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import { countsInMount } from '#core/snapshot/format.ts'
import type { Deps } from '../deps.ts'
import type { OpenMount, ReadyMount } from '../mount/open-mount.ts'
import { isVerified } from '../operator/operator-content.ts'
import { type CardModel, cleanDescription, cleanTitle } from './card.ts'
import { factsIn, type OwnText, textIn, wordLanguageOf } from './card-words.ts'

export interface CardRequest {
  /** Path of a skill; `null`: the card of the mount. */
  skill: string | null
  /** Language tags, most wanted first. */
  wanted: readonly string[]
}

/**
 * What the card of an address says. Until the index is ready, what the git host says of the repository.
 *
 * @throws ServiceError `skill.not_found`, `skill.unavailable`
 */
export async function cardOf(deps: Pick<Deps, 'operator'>, mount: OpenMount, { skill, wanted }: CardRequest): Promise<CardModel> {
  const { address, repository } = mount
  const factsLang = wordLanguageOf(wanted)
  const common = { address: pick(address), place: null, factsLang, plainTitle: repository.name }
  if (mount.status !== 'ready') {
    const description = cleanDescription(repository.description)
    return { ...common, lang: null, title: cleanTitle(repository.name), description, facts: [] }
  }
  const verified = isVerified(deps.operator, address)
  const { text, facts } = skill === null ? await mountSays(mount) : await skillSays(mount, skill)
  const { name, description, lang } = textIn(wanted, text)
  const title = cleanTitle(name) || repository.name
  return { ...common, lang, title, description: cleanDescription(description), facts: factsIn(factsLang, { ...facts, verified }) }
}

/** The card of a page of the documentation. */
export function docsCard(page: { lang: string; path: string; title: string; section: string }): CardModel {
  const { lang, path, title, section } = page
  return { lang, factsLang: lang, address: null, place: path, title, description: section, plainTitle: title, facts: [] }
}

interface Says {
  text: OwnText
  facts: { skills: number; documents: number; license: string | null }
}

async function mountSays({ snapshot, folder, address, repository }: ReadyMount): Promise<Says> {
  const manifest = folder.manifest === undefined ? null : await snapshot.get('manifests', folder.manifest)
  const own = { name: repository.name, description: repository.description, language: null, translations: {} }
  return { text: manifest ?? own, facts: { ...countsInMount(address.path, folder), license: folder.license.name } }
}

/** Of a skill that can be loaded through the mount. */
async function skillSays({ snapshot, folder, address }: ReadyMount, path: string): Promise<Says> {
  const skill = isInside(address.path, path as RepoPath) ? await snapshot.get('contexts', path) : null
  if (skill === null) throw new ServiceError('skill.not_found')
  const manifest = folder.manifest === undefined ? null : await snapshot.get('manifests', folder.manifest)
  const { name, description, translations, license } = skill
  const text = { name, description, translations, language: manifest?.language ?? null }
  return { text, facts: { skills: 0, documents: 0, license: license.name } }
}

function pick({ host, owner, repository, ref, path }: OpenMount['address']): CardModel['address'] {
  return { host, owner, repository, ref, path }
}
