import { setTimeout as sleep } from 'node:timers/promises'

import { createRatesHandler } from '../index.ts'
import type { RatesEvent, RatesOperations } from '../index.ts'
import { openCache } from './cache-folder.ts'
import type { CommandContext } from './context.ts'
import { printable } from '../log.ts'
import { chooseUpstreams } from './upstreams.ts'
import type { UpstreamFlags } from './upstreams.ts'

/** How long a person waits for newer data, and for any at all, in ms. */
const NEWER_TIMEOUT_MS = 5_000
const ANY_TIMEOUT_MS = 15_000

/** What the commands that ask for rates are told alike. */
export interface SessionFlags extends UpstreamFlags {
  /** Whether fetched rates are read from and kept in the user's folder. */
  cache: boolean
}

/** An answer of the API. */
export interface SessionResponse {
  status: number
  /** JSON. */
  body: string
  /** Whether newer data were due, and could not be had. */
  isOverdue: boolean
}

/** Rates for a person, who waits a little longer for newer ones than a server lets anyone wait. */
export interface RatesSession {
  /**
   * Asks the API for what is at `target`, a path behind `/api` with its query. A record that `isSettled` says of that no newer
   * data could change it is not waited for, and never overdue (default none).
   */
  get(target: string, isSettled?: (body: string) => boolean): Promise<SessionResponse>
  rates: RatesOperations
  /** What every upstream did wrong last, fit for a terminal; empty where nothing. */
  trouble(): string
  /** Ends upstream calls; what is being kept is still written. */
  close(): void
}

/**
 * A session with the upstreams that the environment names, and the user's cache; `hasArchive` where days may be asked for
 * that are more than five years ago.
 *
 * @throws {UsageError} naming the variable that cannot be used
 */
export async function openSession(
  { cache, hasArchive = false, ...flags }: SessionFlags & { hasArchive?: boolean },
  context: CommandContext,
): Promise<RatesSession> {
  const upstreams = await chooseUpstreams(flags, context)
  const { demo, providers } = flags
  const store = cache && !demo ? await openCache({ providers, hasArchive }, context) : undefined
  const work = new Set<Promise<unknown>>()
  let isOverdue = false
  const troubles = new Map<string, string>()
  const handler = createRatesHandler({
    ...upstreams,
    store,
    waitUntil: (promise) => void work.add(promise),
    onEvent(event) {
      if (event.type === 'stale_served') isOverdue = true
      recordTrouble(troubles, event)
    },
  })

  async function request(
    target: string,
    isSettled: (body: string) => boolean,
  ): Promise<SessionResponse> {
    isOverdue = false
    const request = { method: 'GET', target: `/api${target}`, header: () => undefined }
    const { status, body } = await handler.answer(request)
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body ?? undefined)
    return { status, body: text, isOverdue: isOverdue && !(status === 200 && isSettled(text)) }
  }

  return {
    async get(target, isSettled = () => false) {
      const first = await request(target, isSettled)
      const isMissing = first.status === 502
      if (!isMissing && !first.isOverdue) return first
      await Promise.race([
        Promise.allSettled(work),
        sleep(isMissing ? ANY_TIMEOUT_MS : NEWER_TIMEOUT_MS, undefined, { ref: false }),
      ])
      return request(target, isSettled)
    },
    rates: handler.rates,
    trouble: () => toText(troubles),
    close: handler.close,
  }
}

/** Keeps what `event` tells of trouble with a provider. */
function recordTrouble(troubles: Map<string, string>, event: RatesEvent): void {
  if (event.type === 'upstream_failed') troubles.set(event.provider, event.reason)
  else if (event.type === 'rates_rejected' && event.provider !== undefined)
    troubles.set(event.provider, `its answer was refused: ${event.reason}`)
}

/** What became of every provider; the name of a single one goes without saying. */
function toText(troubles: ReadonlyMap<string, string>): string {
  if (troubles.size === 1) return printable([...troubles.values()].join(''))
  return printable([...troubles].map(([provider, reason]) => `${provider}: ${reason}`).join('; '))
}
