import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChangeItem } from '#core/contract/changes.ts'
import { expectAgreement } from '#test/properties/changes.ts'
import { CORPUS, type CorpusApp, commitChanges, corpusApp, corpusRepositories, unpackCorpus } from '#test/support/corpus.ts'
import { editFolder, prepareFolder } from '#test/support/corpus-changes.ts'

const corpus = CORPUS ?? ''

describe.runIf(CORPUS !== null)('the changes of real repositories equal an independent reading of both trees', () => {
  let service: CorpusApp
  beforeAll(async () => {
    service = await corpusApp()
  })
  afterAll(() => service?.close())
  const edits = new Set<string>()
  const items: ChangeItem[] = []

  test.each(CORPUS === null ? [] : corpusRepositories(corpus))('$owner/$name', async repository => {
    const { owner, name } = repository
    const from = await unpackCorpus(corpus, repository, service.root, folder => prepareFolder(folder, name))
    const folder = join(service.root, owner, name)
    for (const edit of editFolder(folder, name)) edits.add(edit)
    const to = commitChanges(folder)
    const compared = { name: `${owner}/${name}`, gitDir: service.gitDir(repository), from, to }
    items.push(...(await expectAgreement(service.app, compared)))
  })

  test('and every kind of change occurs', () => {
    const skills = items.filter(item => item.kind === 'skill')
    const documents = items.filter(item => item.kind === 'document')
    const differing = (of: readonly ChangeItem[]) => [...new Set(of.flatMap<string>(({ parts }) => parts))].sort()
    const facts = new Set(items.flatMap(item => ('facts' in item ? Object.keys(item.facts) : [])))
    expect(edits.size).toBe(31)
    expect(differing(skills)).toEqual(['body', 'files', 'includes', 'license', 'metadata', 'rules', 'serving'])
    expect(differing(documents)).toEqual(['body', 'license', 'metadata', 'serving'])
    const expected = ['allowedTools', 'commands', 'description', 'executables', 'hiddenCharacters', 'hosts', 'serving']
    expect([...facts].sort()).toEqual(expected)
    for (const change of ['added', 'removed', 'changed', 'moved']) {
      expect([skills, documents].map(of => of.some(item => item.change === change))).toEqual([true, true])
    }
  })
})
