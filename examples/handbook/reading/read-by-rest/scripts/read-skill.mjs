#!/usr/bin/env node
// Loads one skill completely and prints it: rules, body, included files.
//
//   node read-skill.mjs http://127.0.0.1:4321 local/mountglass/handbook reading/open-an-address/SKILL.md
//
// Exit codes: 0 loaded, 1 not loaded (the reason is on standard error), 2 wrong usage.

const [base, address, path] = process.argv.slice(2)
if (!base || !address || !path) {
  console.error('usage: read-skill.mjs <origin> <address without leading slash> <path of a SKILL.md>')
  process.exit(2)
}

const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds))

/** Returns one answer as JSON. Throws an error with the code of the API. */
async function ask(url) {
  const response = await fetch(url)
  const body = await response.json()
  if (!response.ok) throw new Error(`${response.status} ${body.error.code}: ${body.error.message}`)
  return body
}

/** Waits until the index is ready and returns the commit of the mount. */
async function readyCommit() {
  for (let attempt = 0; attempt < 120; attempt++) {
    const mount = await ask(`${base}/api/v1/mounts/${address}`)
    if (mount.index.status === 'ready') return mount.commit
    if (mount.index.status === 'failed')
      throw new Error(`${mount.index.errorCode}: indexing failed, the next attempt is after ${mount.index.retryAt}`)
    await pause(1000)
  }
  throw new Error('still indexing after two minutes')
}

/** The same address at a full commit hash, so that a moved branch does not interrupt paging. */
function pinned(commit) {
  const [host, owner, repository, ...folders] = address.split('/')
  return [host, owner, `${repository.split('@')[0]}@${commit}`, ...folders].join('/')
}

async function main() {
  const fixed = pinned(await readyCommit())
  const pieces = new Map()
  const add = (file, text) => pieces.set(file, (pieces.get(file) ?? '') + text)

  for (let cursor = null; ; ) {
    const query = new URLSearchParams({ path, ...(cursor === null ? {} : { cursor }) })
    const page = await ask(`${base}/api/v1/skills/${fixed}?${query}`)
    if (page.status !== 'ready') throw new Error(`the index is ${page.status} again`)
    if (!page.skill.serving.full) throw new Error(`described only; the original is at ${page.skill.serving.sourceUrl}`)
    for (const rule of page.skill.ruleChain) add(`rules of ${rule.path}`, rule.content)
    if (page.skill.bodyFragment) add(page.skill.path, page.skill.body)
    for (const include of page.skill.includes) add(`included ${include.path}`, include.content)
    if (page.complete) break
    if (!page.nextCursor) throw new Error(`a required file is missing: ${page.diagnostics.map(item => item.message).join('; ')}`)
    cursor = page.nextCursor
  }
  for (const [file, text] of pieces) console.log(`\n=== ${file}\n\n${text}`)
}

main().catch(error => {
  console.error(error.message)
  process.exitCode = 1
})
