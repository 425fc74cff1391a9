import { setTimeout as sleep } from 'node:timers/promises'

import { createRatesHandler } from '../index.ts'
import type { RatesEvent, RatesOperations } from '../index.ts'
import { toSingleLine } from '../log.ts'
import { openCache } from './cache-folder.ts'
import type { CommandContext } from './context.ts'
import { chooseUpstreams } from './upstreams.ts'
import type { UpstreamFlags } from './upstreams.ts'

// A refresh may take longer without any cached rates to show.
const NEWER_TIMEOUT_MS = 5_000
const ANY_TIMEOUT_MS = 15_000

/** The flags of the commands that show rates. */
export interface SessionFlags extends UpstreamFlags {
  /** Whether fetched rates are read from and written to the cache folder. */
  cache: boolean
}

/** A response of the API. */
export interface SessionResponse {
  status: number
  /** JSON. */
  body: string
  /** Whether a refresh was due and newer rates could not be fetched. */
  isOverdue: boolean
}

/** Access to rates for one run of a command, which waits longer for newer rates than a server does. */
export interface RatesSession {
  /**
   * Requests `target`, a path after `/api` with its query. A body for which `isSettled` returns true is returned without
   * waiting for newer data and is never overdue (default: no body).
   */
  get(target: string, isSettled?: (body: string) => boolean): Promise<SessionResponse>
  rates: RatesOperations
  /** Returns the last failure of each upstream, escaped for a terminal; empty without failures. */
  failures(): string
  /** Ends upstream calls; pending cache writes continue. */
  close(): void
}

/**
 * Opens a session with the selected upstreams and the user's cache. Set `hasArchive` if requested days may be more than five
 * years old.
 *
 * @throws {UsageError} naming the invalid variable
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
  const failures = new Map<string, string>()
  const handler = createRatesHandler({
    ...upstreams,
    store,
    waitUntil: (promise) => void work.add(promise),
    onEvent(event) {
      if (event.type === 'stale_served') isOverdue = true
      recordFailure(failures, event)
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
    failures: () => toText(failures),
    close: handler.close,
  }
}

function recordFailure(failures: Map<string, string>, event: RatesEvent): void {
  if (event.type === 'upstream_failed') failures.set(event.provider, event.reason)
  else if (event.type === 'rates_rejected' && event.provider !== undefined)
    failures.set(event.provider, `response rejected: ${event.reason}`)
}

function toText(failures: ReadonlyMap<string, string>): string {
  if (failures.size === 1) return toSingleLine([...failures.values()].join(''))
  return toSingleLine(
    [...failures].map(([provider, reason]) => `${provider}: ${reason}`).join('; '),
  )
}
