import { createHandlerOn } from '../../src/handler.ts'
import type {
  HistoryProvider,
  LatestProvider,
  ProviderContext,
  RatesEvent,
  RatesHandler,
  RatesHandlerOptions,
} from '../../src/index.ts'
import { settled, virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

export const SECOND = 1_000
export const HOUR = 3_600 * SECOND

/** A Friday, 18:00 UTC: the reference rates of the day are there. */
export const START = Date.UTC(2026, 10, 20, 18)

/** What a provider of a chain is like: `slow` answers after 3 s, `stuck` never, even if its signal aborts. */
export const CONDITIONS = ['healthy', 'dead', 'lying', 'slow', 'stuck'] as const

export type Condition = (typeof CONDITIONS)[number]

/** A chain of latest and one of history providers, `A`, `B`, `C` in their order, and what came of asking them. */
export interface Chain {
  handler: RatesHandler
  runtime: VirtualRuntime
  events: RatesEvent[]
  /** Of each in its order, and to be changed. */
  conditions: Condition[]
  /** When each says that it has published, in ms since the Unix epoch, and to be changed. */
  published: number[]
  /** Who was called, in that order. */
  calls: string[]
  /** What `target` below `/api` is answered with, at the time at which that comes. */
  ask(target: string): Promise<ChainAnswer>
}

/** An answer of a chain. */
export interface ChainAnswer {
  response: Response
  /** For how long it was waited for, in ms. */
  waited: number
}

export function startChain(given: readonly Condition[], options: RatesHandlerOptions = {}): Chain {
  const runtime = virtualRuntime(START)
  const conditions = [...given]
  const published = conditions.map(() => START)
  const events: RatesEvent[] = []
  const calls: string[] = []
  const nameOf = (index: number): string => String.fromCodePoint(65 + index)
  const attributionOf = (index: number): LatestProvider['attribution'] => ({
    name: nameOf(index),
    url: `https://${nameOf(index).toLowerCase()}.example`,
  })

  /** What the provider at `index` comes to: what `make` makes, or what its condition says. */
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
      // By which a reader can tell whose publication it is, and which.
      rates: { USD: 1, EUR: index + 1, JPY: updatedAt / SECOND },
    })
    return {
      attribution: attributionOf(index),
      fetchLatest: () => act(index, () => tableAt(published[index] ?? NaN), tableAt(NaN)),
    }
  })
  const history = conditions.map((_, index): HistoryProvider => {
    const dayOf = ({ now }: ProviderContext): string =>
      new Date(Math.min(now(), published[index] ?? NaN)).toISOString().slice(0, 10)
    return {
      attribution: attributionOf(index),
      fetchHistory: (_range, context) =>
        act(
          index,
          () => ({ base: 'EUR', days: [{ date: dayOf(context), rates: { USD: index + 1 } }] }),
          { base: 'EUR', days: [{ date: 'today', rates: { USD: index + 1 } }] },
        ),
    }
  })
  const handler = createHandlerOn(() => runtime, {
    now: runtime.now,
    providers: { latest, history },
    onEvent: (event) => void events.push(event),
    ...options,
  })

  async function ask(target: string): Promise<ChainAnswer> {
    const askedAt = runtime.monotonic()
    const seen: { answer?: ChainAnswer } = {}
    const wait = async (): Promise<void> => {
      const response = await handler(new Request(`http://localhost/api${target}`))
      seen.answer = { response, waited: runtime.monotonic() - askedAt }
    }
    void wait()
    await settled()
    while (!seen.answer) await runtime.advance(50)
    return seen.answer
  }

  return { handler, runtime, events, conditions, published, calls, ask }
}
