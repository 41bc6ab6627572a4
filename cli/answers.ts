import type { AnswerOf, QueryInputOf } from '#core/contract/endpoints.ts'
import type { Mount, Overview } from '#core/contract/mount.ts'
import type { TypedContext } from '#core/typed-address.ts'
import { SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'

/** The endpoints that commands ask. */
export type AskedEndpoint = 'mounts' | 'browse' | 'findings' | 'find' | 'skills' | 'files'

/** Answers of a service about addresses: of a deployment, or of this process. */
export interface Answers {
  /**
   * @param address canonical
   * @throws UnansweredError
   */
  get<Name extends AskedEndpoint>(name: Name, address: string, query: QueryInputOf<Name>): Promise<AnswerOf<Name>>
  /** Between two questions whether an index is ready. */
  pauseMs: number
  /** Questions at once. */
  atOnce: number
}

/** A service, and what addresses mean there that a person types. */
export interface AnswersInContext {
  answers: Answers
  context: TypedContext
}

/** A question without an answer. */
export class UnansweredError extends SentenceError {
  /** A code of the contract, or `service.unreachable`, `service.not_mountglass` or `service.local_not_read`. */
  readonly code: string
  /** Folders of skills to choose from. */
  readonly directories: readonly string[]

  constructor(code: string, said: string, options: ErrorOptions & { directories?: readonly string[] | undefined } = {}) {
    super(said, options)
    this.name = 'UnansweredError'
    this.code = code
    this.directories = options.directories ?? []
  }

  /** Whether the service looked and found nothing. Otherwise it could not look, which says nothing about the address. */
  get isGone(): boolean {
    return GONE.includes(this.code)
  }
}

const GONE = ['mount.repo_not_found', 'mount.ref_not_found', 'mount.path_not_found']

export interface Waiting {
  /** For the index of one address. */
  timeoutMs: number
  /** Called once when the index of the address takes a person's time. */
  onWaiting(address: string): void
  /** Called with each answer that the index is not ready. Default: it is not told. */
  onIndexing?(state: Extract<Mount['index'], { status: 'indexing' }>): void
}

/** A shorter wait is not worth a line: this process indexes a small repository at every run. */
const NOTICEABLE_MS = 1_000

export type IndexedMount = Mount & { index: Overview }

/** Asks for the address until its index is ready. @throws UnansweredError also when indexing failed, or is not done in time */
export async function askIndexed(
  answers: Answers,
  address: string,
  { timeoutMs, onWaiting, onIndexing }: Waiting,
): Promise<IndexedMount> {
  const giveUpAt = performance.now() + timeoutMs
  const toldAt = Math.ceil(NOTICEABLE_MS / answers.pauseMs)
  for (let asked = 1; ; asked++) {
    const mount = await answers.get('mounts', address, {})
    const { index } = mount
    switch (index.status) {
      case 'ready':
        return { ...mount, index }
      case 'failed':
        throw new UnansweredError(index.errorCode, t('problem.indexingFailed', { retryAt: index.retryAt }))
      case 'indexing':
        onIndexing?.(index)
        if (performance.now() + answers.pauseMs > giveUpAt)
          throw new UnansweredError('index.indexing', t('problem.notIndexedYet', { seconds: Math.round(timeoutMs / 1000) }))
        if (asked === toldAt) onWaiting(address)
        await new Promise(resolve => setTimeout(resolve, answers.pauseMs))
    }
  }
}
