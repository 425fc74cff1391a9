import { createHandlerOn } from '../../src/handler.ts'
import type {
  HistoryProvider,
  LatestProvider,
  RatesEvent,
  RatesHandlerOptions,
} from '../../src/index.ts'
import { toDay } from '../fixtures/dates.ts'
import { settled, virtualRuntime } from '../virtual-runtime.ts'

export const SECOND = 1_000
export const HOUR = 3_600 * SECOND

/** A Friday, 18:00 UTC: the reference rates of the day are there. */
export const START = Date.UTC(2026, 10, 20, 18)

/** The rate of the yen that the provider at `index` of a chain publishes at `updatedAt`. */
export const yenOf = (index: number, updatedAt: number): number => index * 1e10 + updatedAt / SECOND

/** What a provider of a chain is like: `slow` answers after 3 s, `stuck` never, even if its signal aborts. */
export const CONDITIONS = ['healthy', 'dead', 'lying', 'slow', 'stuck'] as const

export type Condition = (typeof CONDITIONS)[number]

/** A chain of latest and one of history providers, `A`, `B`, `C` in their order, whose conditions tests change. */
export function startChain(given: readonly Condition[], options: RatesHandlerOptions = {}) {
  const runtime = virtualRuntime(START)
  const conditions = [...given]
  /** When each provider says that it has published, in ms since the Unix epoch. */
  const published = conditions.map(() => START)
  /** Whether each provider publishes without JPY. */
  const lacksYen = conditions.map(() => false)
  const events: RatesEvent[] = []
  /** The providers that were called, in that order. */
  const calls: string[] = []
  const nameOf = (index: number): string => String.fromCodePoint(65 + index)
  const attributionOf = (index: number): LatestProvider['attribution'] => {
    const name = nameOf(index)
    return { name, url: `https://${name.toLowerCase()}.example` }
  }

  /** Ends a call of the provider at `index`: with what `make` returns, or as its condition says. */
  async function act<Data>(index: number, make: () => Data, lie: Data): Promise<Data> {
    calls.push(nameOf(index))
    const condition = conditions[index]
    if (condition === 'dead') throw new Error(`${nameOf(index)} is down`)
    if (condition === 'stuck') return new Promise(() => {})
    const answer = condition === 'lying' ? lie : make()
    if (condition === 'slow') {
      await new Promise<void>((resolve) => void runtime.startTimer(resolve, 3 * SECOND))
    }
    return answer
  }

  const latest = conditions.map((_, index): LatestProvider => {
    const tableAt = (updatedAt: number) => ({
      base: 'USD',
      updatedAt,
      nextUpdateAt: updatedAt + 24 * HOUR,
      // Which show whose publication they are from, and which.
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
  const handler = createHandlerOn(() => runtime, {
    now: runtime.now,
    providers: { latest, history },
    onEvent: (event) => void events.push(event),
    ...options,
  })

  /** The response to `target` below `/api`, at the time at which it comes, and how long that took in ms. */
  async function ask(target: string) {
    const askedAt = runtime.monotonic()
    const answer = handler(new Request(`http://localhost/api${target}`)).then((response) => {
      return { response, waited: runtime.monotonic() - askedAt }
    })
    const wait = { isOver: false }
    void answer.finally(() => (wait.isOver = true))
    await settled()
    while (!wait.isOver) await runtime.advance(50)
    return answer
  }

  return { handler, runtime, events, conditions, published, lacksYen, calls, ask }
}

export type Chain = ReturnType<typeof startChain>
export type ChainAnswer = Awaited<ReturnType<Chain['ask']>>
