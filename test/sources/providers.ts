import type { HistoryProvider, LatestProvider, RatesHandlerOptions } from '../../src/index.ts'
import { toDay } from '../fixtures/dates.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { HOUR, SECOND, settled, virtualRuntime } from '../virtual-runtime.ts'

/** A Friday, 18:00 UTC, after the reference rates of the day were published. */
export const START = Date.UTC(2026, 10, 20, 18)

/** Returns the rate of the yen that the provider at `index` of a chain publishes at `updatedAt`. */
export const yenOf = (index: number, updatedAt: number): number => index * 1e10 + updatedAt / SECOND

/** Conditions of a provider: `slow` responds after 3 s, `stuck` never, even if its signal aborts. */
export const CONDITIONS = ['healthy', 'dead', 'lying', 'slow', 'stuck'] as const

export type Condition = (typeof CONDITIONS)[number]

/** Starts a chain of latest and one of history providers, `A`, `B`, `C` in order; tests change their conditions. */
export function startChain(given: readonly Condition[], options: RatesHandlerOptions = {}) {
  const runtime = virtualRuntime(START)
  const conditions = [...given]
  /** The time of publication that each provider states, in ms since the Unix epoch. */
  const published = conditions.map(() => START)
  /** Whether each provider publishes without JPY. */
  const lacksYen = conditions.map(() => false)
  const calls: string[] = []
  const nameOf = (index: number): string => String.fromCodePoint(65 + index)
  const attributionOf = (index: number): LatestProvider['attribution'] => ({
    name: nameOf(index),
    url: `https://${nameOf(index).toLowerCase()}.example`,
  })

  /** Ends a call of the provider at `index`: with the result of `make`, or according to its condition. */
  async function act<Data>(index: number, make: () => Data, lie: Data): Promise<Data> {
    calls.push(nameOf(index))
    const condition = conditions[index]
    if (condition === 'dead') throw new Error(`${nameOf(index)} is down`)
    if (condition === 'stuck') return new Promise(() => {})
    const data = condition === 'lying' ? lie : make()
    if (condition === 'slow') {
      await new Promise<void>((resolve) => void runtime.startTimer(resolve, 3 * SECOND))
    }
    return data
  }

  const latest = conditions.map((_, index): LatestProvider => {
    const tableAt = (updatedAt: number) => ({
      base: 'USD',
      updatedAt,
      nextUpdateAt: updatedAt + 24 * HOUR,
      // Different for every provider and publication.
      rates: { USD: 1, EUR: index + 1, ...(!lacksYen[index] && { JPY: yenOf(index, updatedAt) }) },
    })
    return {
      attribution: attributionOf(index),
      fetchLatest: () => act(index, () => tableAt(published[index] ?? NaN), tableAt(NaN)),
    }
  })
  const history = conditions.map((_, index): HistoryProvider => {
    const daysOf = (date: string) => ({ base: 'EUR', days: [{ date, rates: { USD: index + 1 } }] })
    return {
      attribution: attributionOf(index),
      fetchHistory(_range, { now }) {
        const day = (): string => toDay(Math.min(now(), published[index] ?? NaN))
        return act(index, () => daysOf(day()), daysOf('today'))
      },
    }
  })
  const providers = { latest, history }
  const recorded = recordedHandler(runtime, { providers, ...options })

  /** Returns the response to `target` below `/api` as soon as it arrives, and how long that took in ms. */
  async function request(target: string) {
    const sentAt = runtime.monotonic()
    const waited = (response: Response) => ({ response, waited: runtime.monotonic() - sentAt })
    const timed = recorded.get(target).then(waited)
    const wait = { isOver: false }
    void timed.finally(() => (wait.isOver = true))
    await settled()
    while (!wait.isOver) await runtime.advance(50)
    return timed
  }

  return { ...recorded, runtime, conditions, published, lacksYen, calls, request }
}

export type Chain = ReturnType<typeof startChain>
export type TimedResponse = Awaited<ReturnType<Chain['request']>>
