import { createFallbacks, type Fallbacks } from '#core/ports/fallbacks.ts'
import type { Metrics } from '#core/ports/metrics.ts'
import { changesKey } from '#core/snapshot/store-keys.ts'
import { type ChangeFeed, openChangeFeed } from './changes/change-feed.ts'
import { HeardChanges } from './github/heard-changes.ts'
import { type GitHubHost, type GitHubHostOptions, openGitHubHost } from './github/host.ts'
import { openSharedAnswers } from './github/shared-answers.ts'
import { HostChange } from './github/webhook.ts'
import type { Stores } from './stores.ts'

const CHANGES_CHANNEL = 'mountglass_changes'
const SEGMENT = 'gh'
/** How long a visitor waits for what other processes of the deployment know before the host is asked. */
const STORE_PATIENCE_MS = 250

/**
 * GitHub for a process that may have others beside it: they share what they asked, and tell each other of webhooks.
 *
 * @param closing receives what must be closed after the host
 */
export async function openSharingGitHub(
  options: GitHubHostOptions,
  stores: Pick<Stores, 'states' | 'database'>,
  metrics: Metrics,
  closing: (() => Promise<void>)[],
): Promise<GitHubHost> {
  const { apiUrl, token, webhookSecret, clock, onWarning } = options
  const fallbacks = createFallbacks(metrics, { warn: (_fields, message) => onWarning(message) })
  const changes = new HeardChanges(webhookSecret !== null)
  const scope = JSON.stringify([apiUrl, token])
  const shared = openSharedAnswers({
    states: stores.states,
    host: SEGMENT,
    scope,
    changes,
    clock,
    fallbacks,
    patienceMs: STORE_PATIENCE_MS,
  })
  closing.push(() => shared.close())
  const told: { feed: ChangeFeed<HostChange> | null } = { feed: null }
  const onHeard = (change: HostChange) => {
    changes.begin(change)
    told.feed?.tell(change)
  }
  const github = await openGitHubHost({ ...options, shared, onHeard })
  if (webhookSecret !== null) {
    const feed = openGitHubChanges(github, stores, changes, fallbacks)
    told.feed = feed
    closing.push(() => feed.close())
    // Before its first look this process could use no answer of another one: it would ask for them all again.
    await feed.look()
  }
  return github
}

/** Tells the other processes what a webhook told this one. With a database, its notifications have them look at once. */
function openGitHubChanges(
  github: GitHubHost,
  { states, database }: Pick<Stores, 'states' | 'database'>,
  order: HeardChanges,
  fallbacks: Fallbacks,
): ChangeFeed<HostChange> {
  const feed = openChangeFeed({
    states,
    key: changesKey(SEGMENT),
    schema: HostChange,
    onChange: change => void github.applyChange(change),
    onMissed: () => github.expireAll(),
    order,
    onTold: () => void database?.notify(CHANGES_CHANNEL).catch(() => {}), // the others look in a few seconds
    fallbacks,
  })
  const unlisten = database?.listen(CHANGES_CHANNEL, () => void feed.look())
  return {
    tell: change => feed.tell(change),
    look: () => feed.look(),
    async close() {
      await unlisten?.()
      await feed.close()
    },
  }
}
