import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { MAX_ROWS } from '../api/convert-many.ts'
import type { AnyRowConversion } from '../api/convert-many.ts'
import type { ConversionRow } from '../api/parameter-types.ts'
import { isRatesError } from '../errors.ts'
import { createRates } from '../index.ts'
import type { CacheStore, Rates, RatesEvent } from '../index.ts'
import { toSingleLine } from '../log.ts'
import type { CommandContext } from './context.ts'
import type { RATES_OPTIONS } from './flags.ts'
import { chooseProviders, chooseUpstreams } from './upstreams.ts'
import type { UpstreamFlags } from './upstreams.ts'
import { refuseWith } from './usage.ts'
import type { parseArguments } from './usage.ts'

export type RatesFlags = ReturnType<
  typeof parseArguments<{ options: typeof RATES_OPTIONS }>
>['values'] & { csv?: boolean | undefined }

// A refresh may take longer without any cached rates to show.
const NEWER_TIMEOUT_MS = 5_000
const ANY_TIMEOUT_MS = 15_000

/** Access to rates for one run of a command, which waits longer for newer rates than a server does. */
export interface RatesSession {
  /** Makes a request, and repeats it after the work in progress if rates were missing or overdue. */
  get<Result>(request: (rates: Rates) => Promise<Result>): Promise<Result>
  /** Converts any number of rows, as `get` does. */
  convertMany(rows: readonly ConversionRow[]): Promise<readonly AnyRowConversion[]>
  rates: Rates
  /** Returns why what `get` returned is overdue, escaped for a terminal: `offline: rates of 3 days ago (no response in time)`. */
  whyOverdue(rates: string): string | undefined
  /** Returns the last failure of each upstream, escaped for a terminal; empty without failures. */
  failures(): string
  /** Ends upstream calls; pending cache writes continue. */
  close(): void
}

/** @throws {UsageError} naming the invalid flag or variable */
export async function openSession(
  flags: RatesFlags,
  context: CommandContext,
): Promise<RatesSession> {
  if (flags.json) refuseWith('--json', { csv: flags.csv })
  const upstreams = await chooseUpstreams(flags, context)
  const store = flags['no-cache'] || flags.demo ? undefined : await openCache(flags, context)
  const work = new Set<Promise<unknown>>()
  const { record, failures, whyOverdue } = createUpstreamLog()
  let isOverdue = false
  const rates = createRates({
    ...upstreams,
    store,
    waitUntil: (promise) => void work.add(promise),
    onEvent(event) {
      if (event.type === 'stale_served') isOverdue = true
      record(event)
    },
  })

  async function get<Result>(request: (rates: Rates) => Promise<Result>) {
    isOverdue = false
    let isMissing = true
    try {
      const first = await request(rates)
      isMissing = lacksRates(first)
      if (!isMissing && !isOverdue) return first
    } catch (error) {
      if (!isRatesError(error) || error.code !== 'provider_unavailable') throw error
    }
    const timeout = isMissing ? ANY_TIMEOUT_MS : NEWER_TIMEOUT_MS
    await Promise.race([Promise.allSettled(work), sleep(timeout, undefined, { ref: false })])
    isOverdue = false
    return request(rates)
  }

  return {
    get,
    convertMany: (rows) =>
      get(async () => {
        const results: AnyRowConversion[] = []
        for (let at = 0; at < rows.length; at += MAX_ROWS)
          results.push(...(await rates.convertMany(rows.slice(at, at + MAX_ROWS))))
        return results
      }),
    rates,
    whyOverdue: (what) => (isOverdue ? whyOverdue(what) : undefined),
    failures,
    close: rates.close,
  }
}

/** Returns whether a row of many failed for want of rates. */
function lacksRates(result: unknown): boolean {
  const rows: readonly AnyRowConversion[] = Array.isArray(result) ? result : []
  return rows.some((each) => 'error' in each && each.error.code === 'provider_unavailable')
}

function createUpstreamLog() {
  const reasons = new Map<string, string>()
  const unanswered = new Set<string>()
  const late = new Set<string>()

  function record(event: RatesEvent): void {
    const { type } = event
    if (type === 'upstream_request') unanswered.add(event.provider)
    if (type === 'upstream_response') unanswered.delete(event.provider)
    if (type === 'rates_late') late.add(event.provider)
    if (type === 'upstream_failed') reasons.set(event.provider, event.reason)
    if (type === 'rates_rejected' && event.provider !== undefined)
      reasons.set(event.provider, `response rejected: ${event.reason}`)
  }

  function failures(): string {
    const isOne = reasons.size === 1
    const texts = Array.from(reasons, ([name, reason]) => (isOne ? reason : `${name}: ${reason}`))
    return toSingleLine(texts.join('; '))
  }

  function whyOverdue(rates: string): string {
    if (reasons.size + unanswered.size > 0 || late.size === 0)
      return `offline: ${rates} (${failures() || 'no response in time'})`
    return toSingleLine(`late: ${rates} (no newer ones from ${[...late].join(', ')})`)
  }

  return { record, failures, whyOverdue }
}

async function openCache(
  flags: UpstreamFlags,
  context: CommandContext,
): Promise<CacheStore | undefined> {
  const folder = cacheFolder(context)
  if (folder === undefined) return undefined
  const { createFileStore } = await import('../stores/file.ts')
  const { fileName } = await import('../stores/file/name.ts')
  // A separate cache for each combination of providers and URLs, and for added rates.
  const chosen = await chooseProviders(flags, context.env)
  const choice = JSON.stringify({ ...chosen, pegs: flags.pegs })
  const root = join(folder, createHash('sha256').update(choice).digest('hex').slice(0, 16))
  return {
    ...createFileStore(root),
    // At once, because a handler waits only 50 ms for a store; here a slow disk is faster than an upstream.
    get(key) {
      const path = join(root, fileName(key))
      const isFile = statSync(path, { throwIfNoEntry: false })?.isFile()
      return isFile ? readFileSync(path, 'utf8') : undefined
    },
  }
}

/** Returns the cache folder, which may not exist yet; `undefined` without a cache and home folder. */
export function cacheFolder(context: CommandContext): string | undefined {
  const { env, platform, home = findHome() } = context
  const chosen = env['RATESMITH_CACHE_DIR']
  if (chosen) return chosen
  if (platform === 'win32') {
    const local = env['LOCALAPPDATA']
    return local ? join(local, 'ratesmith', 'Cache') : undefined
  }
  const xdg = env['XDG_CACHE_HOME']
  // The XDG Base Directory Specification ignores relative paths.
  if (xdg && isAbsolute(xdg)) return join(xdg, 'ratesmith')
  if (!home) return undefined
  return join(home, ...(platform === 'darwin' ? ['Library', 'Caches'] : ['.cache']), 'ratesmith')
}

function findHome(): string {
  try {
    return homedir() ?? ''
  } catch {
    // A user without an entry in the password database has no home folder.
    return ''
  }
}
