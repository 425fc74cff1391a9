import { runInSlices, yieldToEventLoop } from '../async.ts'
import type { Slices } from '../async.ts'
import { assertKnownOptions } from '../known-options.ts'
import { isCode } from '../rates/currency-code.ts'
import {
  DAY_MS,
  FIRST_REFERENCE_DAY,
  addDays,
  isDay,
  isTargetDay,
  toDay,
  toInstant as startOfDay,
} from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import type { HistoryDay, HistoryDays, LatestTable } from '../upstream/provider.ts'
import { toInstant } from './fake-clock.ts'
import type { FakeProviders } from './fake-providers.ts'

/** Calendar days that are computed between yields to the event loop, in some ms. */
const DAYS_PER_SLICE = 2_000

const MIN_RATE = 1e-100
const MAX_RATE = 1e100

/** Rates for `fixedProviders`. */
export interface FixedRates {
  /** Upper-case code of the base currency. */
  base: string
  /** Units of each currency per unit of `base`, by upper-case code. With base `EUR`, `{ USD: 2 }` means 1 EUR = 2 USD. */
  rates: Readonly<Record<string, number>>
  /**
   * Rates of past days, by day: `{ '2026-01-02': { USD: 1.9 } }`. Other days have no rates. Default: `rates` on every working
   * day of the European Central Bank since 1999-01-04.
   */
  history?: Readonly<Record<string, Readonly<Record<string, number>>>> | undefined
  /**
   * Publication time of the latest rates: ms since the Unix epoch, a `Date`, or an ISO 8601 string such as
   * `2026-01-14T18:00:00Z` (default: midnight UTC of the current day).
   */
  updatedAt?: number | Date | string | undefined
  /** Time of the next publication, in the same formats (default: one day after `updatedAt`). */
  nextUpdateAt?: number | Date | string | undefined
  /** Clock, in ms since the Unix epoch (default: the clock of the handler). */
  now?: (() => number) | undefined
}

const KNOWN: Record<keyof FixedRates, true> = {
  base: true,
  rates: true,
  history: true,
  updatedAt: true,
  nextUpdateAt: true,
  now: true,
}

/**
 * Creates providers of rates of your choice, for the handler's option `providers`. They use no network and no timers. Rates
 * between listed currencies are derived from the table; other currencies are unknown.
 *
 * @throws {TypeError} for an unknown option or an invalid value; the message names the option, code or day
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { fixedProviders } from 'ratesmith/testing'
 *
 * const providers = fixedProviders({ base: 'EUR', rates: { USD: 2 } })
 * const { rates } = createRatesHandler({ providers })
 * const { result } = await rates.convert({ from: 'EUR', to: 'USD', amount: 10 }) // 20
 * ```
 */
export function fixedProviders(table: FixedRates): FakeProviders {
  assertKnownOptions(table, KNOWN)
  const { base, now } = table
  if (!isCode(base)) throw new TypeError(`base must be an upper-case code, got ${show(base)}`)
  if (now !== undefined && typeof now !== 'function') {
    throw new TypeError(`now must be a function, got ${show(now)}`)
  }
  const rates = copyRates('rates', table.rates, base)
  const days = table.history === undefined ? undefined : copyDays(table.history, base)
  const [updatedAt, nextUpdateAt] = (['updatedAt', 'nextUpdateAt'] as const).map((name) => {
    const given = table[name]
    return given === undefined ? undefined : toInstant(given, name)
  })
  const attribution = {
    name: 'Fixed rates (ratesmith)',
    url: 'https://www.npmjs.com/package/ratesmith',
  }

  return {
    latest: {
      attribution,
      async fetchLatest({ signal, ...context }): Promise<LatestTable> {
        signal.throwIfAborted()
        const publishedAt = updatedAt ?? startOfDay(toDay((now ?? context.now)()))
        return {
          base,
          updatedAt: publishedAt,
          nextUpdateAt: nextUpdateAt ?? publishedAt + DAY_MS,
          rates: { ...rates },
        }
      },
    },
    history: {
      attribution,
      async fetchHistory({ start, end }, { signal, ...context }): Promise<HistoryDays> {
        signal.throwIfAborted()
        const today = toDay((now ?? context.now)())
        const last = end < today ? end : today
        const published = days
          ? days.filter(({ date }) => date >= start && date <= last)
          : await runInSlices(workingDays(start, last, rates), yieldToEventLoop, signal)
        return {
          base,
          days: published.map(({ date, rates: quoted }) => ({ date, rates: { ...quoted } })),
        }
      },
    },
  }
}

function* workingDays(start: Day, end: Day, rates: HistoryDay['rates']): Slices<HistoryDay[]> {
  const days: HistoryDay[] = []
  let passed = 0
  const first = start > FIRST_REFERENCE_DAY ? start : FIRST_REFERENCE_DAY
  for (let date = first; date <= end; date = addDays(date, 1)) {
    passed += 1
    if (passed % DAYS_PER_SLICE === 0) yield
    if (isTargetDay(date)) days.push({ date, rates })
  }
  return days
}

function copyDays(history: unknown, base: string): HistoryDay[] {
  assertObject('history', history)
  const days = Object.entries(history).map(([date, rates]) => {
    if (!isDay(date) || date < FIRST_REFERENCE_DAY) {
      throw new TypeError(
        `history must have days such as 2026-01-02 as keys, from ${FIRST_REFERENCE_DAY} on, got ${show(date)}`,
      )
    }
    return { date, rates: copyRates(`history['${date}']`, rates, base) }
  })
  if (days.length === 0) throw new TypeError('history must have at least one day')
  return days.toSorted((one, other) => (one.date < other.date ? -1 : 1))
}

function copyRates(option: string, rates: unknown, base: string): Record<string, number> {
  assertObject(option, rates)
  const entries = Object.entries(rates).map(([code, rate]): [string, number] => {
    if (!isCode(code)) {
      throw new TypeError(`${option} must have upper-case codes as keys, got ${show(code)}`)
    }
    if (typeof rate !== 'number' || !(rate >= MIN_RATE && rate <= MAX_RATE)) {
      throw new TypeError(
        `${option}.${code} must be a number from ${MIN_RATE} to ${MAX_RATE}, got ${show(rate)}`,
      )
    }
    if (code === base && rate !== 1) {
      throw new TypeError(`${option}.${code} must be 1 because ${code} is the base, got ${rate}`)
    }
    return [code, rate]
  })
  if (entries.every(([code]) => code === base)) {
    throw new TypeError(`${option} must have at least one currency besides the base ${base}`)
  }
  return Object.fromEntries(entries)
}

function assertObject(option: string, value: unknown): asserts value is object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  throw new TypeError(`${option} must be an object, got ${show(value)}`)
}

function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
