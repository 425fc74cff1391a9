// Refreshes and stores rates as fast as it can until it is killed: `kill-program.ts <store> <path> <clock>`, where the
// clock starts in ms since the Unix epoch. Prints lines: what it has found (`found {…}`), the time of its clock (`at
// …`), and what it has stored (`stored latest …`).
import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'

import { createRatesHandler } from 'ratesmith'
import type { CacheStore, HistoryProvider, LatestProvider, RatesHandler } from 'ratesmith'
import { createFileStore } from 'ratesmith/stores/file'
import { createSqliteStore } from 'ratesmith/stores/sqlite'

import { codes } from '../fixtures/codes.ts'
import { wholeBody } from '../whole-body.ts'

/** What a process finds in its store at its start. */
export interface Found {
  /** Time of publication of the latest rates, in ms since the Unix epoch; absent without rates. */
  latest?: number
  /** The newest day of the reference rates, in ms since the Unix epoch. */
  history?: number
  /** The number of the ballast; absent without ballast. */
  ballast?: number
  /** Descriptions of corrupt data. */
  broken: string[]
}

const MINUTE = 60_000
const DAY = 1_440 * MINUTE

/** Clock step between two refreshes: latest rates are due again each time, reference rates once a day. */
const STEP = 480 * MINUTE

/** Latest rates take a few kB, but a hundred or more every fourth time, so that they are written in pieces. */
const FEW_CODES = 30
const MANY_CODES = 4_000

const HISTORY_CODES = codes(6)

/**
 * Values of half a megabyte that are stored in addition to the rates: the longer writing takes, the more kills hit it.
 */
const BALLAST_KEY = 'ballast'
const BALLAST_REPEATS = 40_000
const BALLAST_TEXTS = 3

const attribution = { name: 'Fast market', url: 'https://market.example' }

function publication(updatedAt: number): Record<string, number> {
  const number = updatedAt / MINUTE
  const count = updatedAt % (4 * STEP) === 0 ? MANY_CODES : FEW_CODES
  const rates = codes(count).map((code, index) => [code, Number(`${1 + (index % 9)}.${number}`)])
  return { USD: 1, ...Object.fromEntries(rates) }
}

function publishedDays(start: string, end: string, now: number): string[] {
  const days: string[] = []
  for (let at = Date.parse(start); at <= Date.parse(end) && at < now - DAY; at += DAY) {
    if (new Date(at).getUTCDay() % 6 !== 0) days.push(new Date(at).toISOString().slice(0, 10))
  }
  return days
}

function rateOf(date: string, index: number): number {
  return Number(`${1 + index}.${date.replaceAll('-', '')}`)
}

const latestProvider: LatestProvider = {
  attribution,
  async fetchLatest({ now }) {
    const updatedAt = now()
    const nextUpdateAt = updatedAt + MINUTE
    return { base: 'USD', updatedAt, nextUpdateAt, rates: publication(updatedAt) }
  },
}

const historyProvider: HistoryProvider = {
  attribution,
  async fetchHistory({ start, end }, { now }) {
    const days = publishedDays(start, end, now()).map((date) => ({
      date,
      rates: Object.fromEntries(HISTORY_CODES.map((code, index) => [code, rateOf(date, index)])),
    }))
    return { base: 'EUR', days }
  },
}

const STORES: Record<string, (path: string, now: () => number) => CacheStore> = {
  file: createFileStore,
  sqlite: (path, now) => createSqliteStore(path, { now }),
}

/** Returns what a handler without upstreams serves from the store. */
async function inspect(store: CacheStore): Promise<Found> {
  const found: Found = { broken: [] }
  let isSlow = false
  const handler = createRatesHandler({
    // Without leases: its failed refreshes must not keep the next handler from fetching.
    store: { get: (key) => store.get(key), set: () => undefined },
    now,
    providers: {
      latest: { attribution, fetchLatest: () => Promise.reject(new Error('gone')) },
      history: { attribution, fetchHistory: () => Promise.reject(new Error('gone')) },
    },
    onEvent(event) {
      if (event.type === 'rates_rejected') found.broken.push(`${event.dataSet}: ${event.reason}`)
      if (event.type === 'store_failed' && isTimeout(event.error)) isSlow = true
      else if (event.type === 'store_failed') found.broken.push(String(event.error))
    },
  })
  await inspectRates(handler, found)
  const text = await store.get(BALLAST_KEY)
  if (typeof text === 'string') {
    found.ballast = Number.parseInt(text, 10)
    if (text !== ballast(found.ballast))
      found.broken.push(`ballast: content does not match number ${found.ballast}`)
  }
  handler.close()
  return isSlow ? inspect(store) : found
}

/** On a busy machine the store may exceed the handler's time limit; nothing is lost then. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}

async function inspectRates(handler: RatesHandler, found: Found): Promise<void> {
  const latest = await fetchJson(handler, '/api/v1/latest', found)
  if (latest) {
    found.latest = Number(latest.updatedAt)
    // The codes of an earlier larger table are kept in addition to those of a small one.
    const { rates, older = {} } = latest
    const published = Object.entries(rates).filter(([code]) => !(code in older))
    const [before = NaN] = Object.values<number>(older)
    const table = publication(before)
    const isWhole =
      JSON.stringify(Object.fromEntries(published)) === JSON.stringify(publication(found.latest)) &&
      Object.entries(older).every(([code, at]) => at === before && rates[code] === table[code])
    if (!isWhole)
      found.broken.push(`latest: content does not match the publication of ${found.latest}`)
  }
  for (const index of [0, HISTORY_CODES.length - 1]) {
    const target = `/api/v1/history?from=EUR&to=${HISTORY_CODES[index]}&period=5Y`
    const body = await fetchJson(handler, target, found)
    if (!body) return
    const { points } = body
    const [first, last] = [points[0].d, points.at(-1).d]
    found.history = Date.parse(last)
    const expected = publishedDays(first, last, Infinity).map((d) => ({ d, r: rateOf(d, index) }))
    const isWhole = JSON.stringify(points) === JSON.stringify(expected) && points.length > 1_200
    if (!isWhole)
      found.broken.push(`history: content does not match the publications up to ${last}`)
  }
}

function ballast(number: number): string {
  return `${number};`.repeat(BALLAST_REPEATS)
}

async function fetchJson(handler: RatesHandler, target: string, found: Found) {
  const { status, body } = await handler.answer({ method: 'GET', target, header: () => null })
  if (status === 200) return JSON.parse(await wholeBody(body))
  if (status !== 502) found.broken.push(`${target}: ${status}`)
  return undefined
}

function logged(store: CacheStore): CacheStore {
  return {
    get: (key) => store.get(key),
    set(key, value, expiresAt) {
      const storing = (async () => {
        await store.set(key, value, expiresAt)
        writeLine(`stored ${publishedAt(key, value)}`)
      })()
      unfinished = [...unfinished, storing]
      return storing
    },
    ...(store.claim && { claim: (...claim) => store.claim?.(...claim) ?? false }),
  }
}

/** Returns `latest` or `history` and the time of publication in `text`, without parsing half a megabyte. */
function publishedAt(key: string, text: string): string {
  const [, updatedAt] = /"updatedAt":(\d+)/.exec(text.slice(0, 500)) ?? []
  if (updatedAt !== undefined) return `latest ${updatedAt}`
  const [, date = ''] = /.*"date":"([\d-]+)"/.exec(text.slice(-1_500)) ?? []
  if (!key.endsWith('history') || date === '') throw new Error(`no date found in ${key}`)
  return `history ${Date.parse(date)}`
}

/** Writes a line synchronously, so that it is not lost when the process is killed. */
function writeLine(line: string): void {
  writeSync(1, `${line}\n`)
}

const [, , kind = '', path = '', start] = process.argv
let clock = Number(start)
let unfinished: Promise<void>[] = []
const store = STORES[kind]?.(path, now)
if (!store) throw new Error(`unknown store "${kind}"`)

writeLine(`found ${JSON.stringify(await inspect(store))}`)
// Caches compiled code now, because only a process that exits normally would keep it. Later starts are much faster.
flushCompileCache()
const handler = createRatesHandler({
  store: logged(store),
  now,
  providers: { latest: latestProvider, history: historyProvider },
  onEvent(event) {
    if (event.type !== 'store_failed' || isTimeout(event.error)) return
    writeLine(`failed ${event.operation}: ${String(event.error)}`)
  },
})
while (true) {
  clock += STEP
  writeLine(`at ${clock}`)
  await storeSomething()
  for (let number = clock; number < clock + BALLAST_TEXTS; number += 1) {
    await store.set(BALLAST_KEY, ballast(number), Infinity)
    writeLine(`stored ballast ${number}`)
  }
}

async function storeSomething(): Promise<void> {
  unfinished = []
  await handler.refresh()
  await Promise.all(unfinished)
  if (unfinished.length > 0) return
  await sleep(5)
  await storeSomething()
}

function now(): number {
  return clock
}
