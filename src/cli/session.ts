import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { MAX_ROWS } from '../api/convert-many.ts'
import type { AnyRowConversion } from '../api/convert-many.ts'
import { createRatesHandler } from '../index.ts'
import type { CacheStore, HistoryProvider, RatesEvent, RatesOperations } from '../index.ts'
import { toSingleLine } from '../log.ts'
import type { CommandContext } from './context.ts'
import type { RATES_OPTIONS } from './flags.ts'
import { chooseProviders, chooseUpstreams } from './upstreams.ts'
import type { UpstreamFlags } from './upstreams.ts'
import { UsageError } from './usage.ts'
import type { parseArguments } from './usage.ts'
import type { ConversionRow } from '../api/parameters.ts'

export interface RatesFlags extends UpstreamFlags {
  json: boolean
  csv: boolean
  /** Whether to print errors only on stderr. */
  quiet: boolean
  cache: boolean
}

type Values = ReturnType<typeof parseArguments<{ options: typeof RATES_OPTIONS }>>['values'] & {
  csv?: boolean | undefined
}

export function toRatesFlags(values: Values): RatesFlags {
  const { latest, history, json = false, csv = false, quiet = false } = values
  const { demo = false, pegs = false } = values
  if (json && csv) throw new UsageError('--json and --csv cannot be combined')
  const cache = !values['no-cache']
  return { providers: { latest, history }, json, csv, quiet, demo, pegs, cache }
}

// A refresh may take longer without any cached rates to show.
const NEWER_TIMEOUT_MS = 5_000
const ANY_TIMEOUT_MS = 15_000

export interface SessionResponse {
  status: number
  /** JSON. */
  body: string
  /** Whether a refresh was due and newer rates could not be fetched. */
  isOverdue: boolean
}

/** Access to rates for one run of a command, which waits longer for newer rates than a server does. */
export interface RatesSession {
  /** Waits for newer data unless `isPatient` is false (default true). */
  get(target: string, isPatient?: boolean): Promise<SessionResponse>
  /** Converts many amounts, waiting as long as `get` does; `isOverdue` if any of their rates are. */
  convertMany(rows: readonly ConversionRow[]): Promise<Converted>
  rates: RatesOperations
  /** Returns the last failure of each upstream, escaped for a terminal; empty without failures. */
  failures(): string
  /** Returns why `rates` are overdue, escaped for a terminal: `offline: rates of 3 days ago (no response in time)`. */
  whyOverdue(rates: string): string
  /** Ends upstream calls; pending cache writes continue. */
  close(): void
}

interface ExpectedRequests {
  /** Whether requested days may be more than five years old. */
  hasArchive?: boolean
  codes?: readonly string[]
}

/** @throws {UsageError} naming the invalid variable */
export async function openSession(
  flags: RatesFlags,
  context: CommandContext,
  { hasArchive = false, codes = [] }: ExpectedRequests = {},
): Promise<RatesSession> {
  const upstreams = await chooseUpstreams(flags, context)
  const store = flags.cache && !flags.demo ? await openCache(flags, context) : undefined
  const keys = [
    ...KEYS,
    ...(hasArchive ? [ARCHIVE_KEY] : []),
    ...publicationKeys(upstreams.providers.history, codes),
  ]
  const work = new Set<Promise<unknown>>()
  const { record, failures, whyOverdue } = createUpstreamLog()
  let isOverdue = false
  const handler = createRatesHandler({
    ...upstreams,
    store: store && (await preload(store, keys)),
    waitUntil: (promise) => void work.add(promise),
    onEvent(event) {
      if (event.type === 'stale_served') isOverdue = true
      record(event)
    },
  })

  async function request(target: string): Promise<SessionResponse> {
    isOverdue = false
    const request = { method: 'GET', target: `/api${target}`, header: () => undefined }
    const { status, body } = await handler.answer(request)
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body ?? undefined)
    return { status, body: text, isOverdue }
  }

  async function convertNow(rows: readonly ConversionRow[]) {
    isOverdue = false
    const results: readonly AnyRowConversion[] = await handler.rates.convertMany(rows)
    return { results, isOverdue }
  }

  return {
    get: (target, isPatient = true) =>
      isPatient ? patiently(() => request(target), isBadGateway, work) : request(target),
    convertMany: (rows) =>
      inParts(rows, (part) => patiently(() => convertNow(part), lacksRates, work)),
    rates: handler.rates,
    failures,
    whyOverdue,
    close: handler.close,
  }
}

interface Converted {
  results: readonly AnyRowConversion[]
  isOverdue: boolean
}

/** Converts any number of rows with calls that take `MAX_ROWS` each. */
async function inParts(
  rows: readonly ConversionRow[],
  convert: (part: readonly ConversionRow[]) => Promise<Converted>,
): Promise<Converted> {
  const results: AnyRowConversion[] = []
  let isOverdue = false
  for (let at = 0; at < rows.length; at += MAX_ROWS) {
    const converted = await convert(rows.slice(at, at + MAX_ROWS))
    results.push(...converted.results)
    isOverdue ||= converted.isOverdue
  }
  return { results, isOverdue }
}

/** Makes an attempt, and another one after the work in progress, if rates were missing or overdue. */
async function patiently<Result extends { isOverdue: boolean }>(
  attempt: () => Promise<Result>,
  isLacking: (result: Result) => boolean,
  work: ReadonlySet<Promise<unknown>>,
): Promise<Result> {
  const first = await attempt()
  const isMissing = isLacking(first)
  if (!isMissing && !first.isOverdue) return first
  await Promise.race([
    Promise.allSettled(work),
    sleep(isMissing ? ANY_TIMEOUT_MS : NEWER_TIMEOUT_MS, undefined, { ref: false }),
  ])
  return attempt()
}

function isBadGateway({ status }: SessionResponse): boolean {
  return status === 502
}

function lacksRates({ results }: { results: readonly AnyRowConversion[] }): boolean {
  return results.some((each) => 'error' in each && each.error.code === 'provider_unavailable')
}

function createUpstreamLog() {
  const reasons = new Map<string, string>()
  const unanswered = new Set<string>()
  const late = new Set<string>()

  function failures(): string {
    const texts =
      reasons.size === 1
        ? [...reasons.values()]
        : Array.from(reasons, ([provider, reason]) => `${provider}: ${reason}`)
    return toSingleLine(texts.join('; '))
  }

  return {
    record(event: RatesEvent): void {
      if (event.type === 'upstream_request') unanswered.add(event.provider)
      if (event.type === 'upstream_response') unanswered.delete(event.provider)
      if (event.type === 'rates_late') late.add(event.provider)
      if (event.type === 'upstream_failed') reasons.set(event.provider, event.reason)
      if (event.type === 'rates_rejected' && event.provider !== undefined)
        reasons.set(event.provider, `response rejected: ${event.reason}`)
    },
    failures,
    whyOverdue(rates: string): string {
      if (reasons.size + unanswered.size > 0 || late.size === 0)
        return `offline: ${rates} (${failures() || 'no response in time'})`
      return toSingleLine(`late: ${rates} (no newer ones from ${[...late].join(', ')})`)
    },
  }
}

async function openCache(
  { providers, pegs }: RatesFlags,
  context: CommandContext,
): Promise<CacheStore | undefined> {
  const folder = cacheFolder(context)
  if (folder === undefined) return undefined
  const { createFileStore } = await import('../stores/file.ts')
  // A separate cache for each combination of providers and URLs, and for added rates.
  const chosen = await chooseProviders(providers, context.env)
  const choice = JSON.stringify(pegs ? { ...chosen, pegs } : chosen)
  const isDefault = choice === JSON.stringify(await chooseProviders({}, {}))
  const hash = createHash('sha256').update(choice).digest('hex').slice(0, 16)
  return createFileStore(join(folder, isDefault ? 'default' : hash))
}

/** Returns the cache folder, which may not exist yet; `undefined` without a cache and home folder. */
export function cacheFolder({
  env,
  platform,
  home = findHome(),
}: Pick<CommandContext, 'env' | 'platform' | 'home'>): string | undefined {
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

const KEYS: readonly string[] = ['rates:v1:latest', 'rates:v1:history']

/** The store key of the reference rates since 1999: megabytes, needed only for requests with a date. */
export const ARCHIVE_KEY = 'rates:v1:history:ecb:archive'

function publicationKeys(
  providers: readonly HistoryProvider[],
  codes: readonly string[],
): string[] {
  return providers.flatMap(({ publication }) => {
    if (!publication) return []
    const key = `rates:v1:history:${publication.id}`
    return [key, ...codes.map((code) => `${key}:${code.toUpperCase()}`)]
  })
}

/**
 * A handler waits only 50 ms for a store; here a slow disk is faster than an upstream. Failed reads are repeated on `get`.
 */
export async function preload(
  store: CacheStore,
  keys: readonly string[] = KEYS,
): Promise<CacheStore> {
  const texts = new Map<string, unknown>()
  const read = async (key: string): Promise<unknown> => texts.set(key, await store.get(key))
  await Promise.allSettled(keys.map(read))
  return {
    get: (key) => texts.get(key) ?? store.get(key),
    set(key, value, expiresAt) {
      texts.set(key, value)
      return store.set(key, value, expiresAt)
    },
  }
}
