import type { CacheStore, HistoryProvider, RatesHandlerOptions } from '../../src/index.ts'
import { BANK_DAYS, bankRate, createBank, isBankDay } from '../fixtures/bank.ts'
import type { BankOptions } from '../fixtures/bank.ts'
import { codes } from '../fixtures/codes.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { market } from '../fixtures/service.ts'
import * as oracle from '../oracle.ts'
import { finish, virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

export type Json = ReturnType<typeof JSON.parse>

/** A Friday, after all publications of the day. */
export const EVENING = Date.UTC(2026, 10, 20, 18)

/** Due when the bank of the tests publishes. */
export const PUBLICATION = { ...BANK_DAYS, time: '15:00', timeZone: 'UTC' }

export const CODES = codes(12)
export const [ONE = '', OTHER = ''] = CODES

export function openWorld(runtime: VirtualRuntime, options: RatesHandlerOptions) {
  const opened = recordedHandler(runtime, options)
  const world = {
    ...opened,
    runtime,
    finish: <Result>(work: Promise<Result>): Promise<Result> => finish(runtime, work),
    refresh: () => finish(runtime, opened.handler.refresh()),
    async read(target: string): Promise<Json> {
      const response = await finish(runtime, opened.get(target))
      return { status: response.status, ...(await response.json()) }
    },
    /** Lets time pass, with a refresh after each `step` ms. */
    async pass(total: number, step = total): Promise<void> {
      for (let passed = 0; passed < total; passed += step) {
        await runtime.advance(step)
        await world.refresh()
      }
    },
    /** Requests `target` at first, and after each refresh, every `step` ms for `total` ms; returns the responses. */
    async ask(target: string, total: number, step = total): Promise<Json[]> {
      const responses = [await world.read(target)]
      for (let passed = 0; passed < total; passed += step) {
        await world.pass(step)
        responses.push(await world.read(target))
      }
      return responses
    },
  }
  return world
}

interface BankWorld extends Partial<BankOptions> {
  start?: number
  runtime?: VirtualRuntime
  store?: CacheStore | undefined
  /** Providers before the bank, and banks after it. */
  before?: HistoryProvider[]
  others?: Partial<BankOptions>[]
  dated?: 'effect'
}

/** Opens a handler over a bank, by default with a table per day and a series per currency. */
export function openBank({
  start = EVENING,
  runtime = virtualRuntime(start),
  store,
  before = [],
  others = [],
  dated,
  ...own
}: BankWorld = {}) {
  const publication = { ...PUBLICATION, ...(dated && { dated }) }
  const bankOf = (options: Partial<BankOptions>): ReturnType<typeof createBank> =>
    createBank({ codes: CODES, now: runtime.now, publication, ...options })
  const [bank, backups] = [bankOf(own), others.map(bankOf)]
  const providers = { latest: market.latest, history: [...before, bank, ...backups] }
  const world = openWorld(runtime, { providers, store })
  const ranges = (): string[] =>
    bank.calls.map(({ code, start, end }) => [code, start, end].filter(Boolean).join(' '))
  return { ...world, bank, backups, ranges }
}

/** Returns the days of the bank in a range, as far as they are published at `now`. */
export function truth(now: number, start: string, end: string, isOpen = isBankDay): string[] {
  return oracle
    .daysOf(start, end)
    .filter((day) => isOpen(day) && Date.parse(`${day}T15:00:00Z`) <= now)
}

export function points(code: string, days: readonly string[]): { d: string; r: number }[] {
  return days.map((d) => ({ d, r: bankRate(code, d) }))
}

export function leasingStore(now: () => number): CacheStore {
  const entries = new Map<string, string>()
  const leases = new Map<string, number>()
  return {
    get: (key) => entries.get(key),
    set: (key, value) => entries.set(key, value),
    claim(key, expiresAt) {
      if ((leases.get(key) ?? 0) > now()) return false
      leases.set(key, expiresAt)
      return true
    },
  }
}

// Modules that are imported when they are first needed take real time, during which virtual time passes.
const warm = openBank()
for (const target of [`history?from=EUR&to=${ONE}`, 'latest?date=2026-11-20', 'currencies'])
  await warm.read(`/v1/${target}`)
await warm.finish(warm.handler.rates.convertMany([{ from: 'EUR', to: ONE, date: '2026-11-20' }]))
const headers = { 'content-type': 'application/json' }
const posted = { method: 'POST', headers, body: JSON.stringify([{ from: 'EUR', to: ONE }]) }
await warm.finish(warm.handler(new Request('http://localhost/api/v1/convert', posted)))
