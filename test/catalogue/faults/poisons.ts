import type { LatestTable } from '../../../src/providers/provider.ts'
import { HISTORY_SOURCE, LATEST_SOURCE } from '../../fixtures/contract.ts'
import { toLatestTruth } from './truth.ts'
import { NONCE } from './upstream.ts'
import type { World } from './world.ts'

/** What a store holds for one key, as text. */
export interface Envelope {
  v: number
  key: string
  savedAt: number
  data: {
    attribution: { name: string; url: string }
    table?: LatestTable
    base?: string
    start?: string
    days?: { date: string; rates: Record<string, unknown> }[]
  }
}

/** A way of making an envelope bad that would be good otherwise. */
export interface Poison {
  name: string
  poison(good: Envelope): object
}

const MARKUP = `<script>alert("${NONCE}")</script>`

/** Bad envelopes of every kind that can be told from good ones. */
export const poisons: readonly Poison[] = [
  {
    name: 'the base at a million',
    poison: (good) => withRates(good, (rates) => ({ ...rates, USD: 1e6, EUR: 1e6 })),
  },
  {
    name: 'negative rates',
    poison: (good) => withRates(good, (rates) => mapRates(rates, (rate) => -Number(rate))),
  },
  {
    name: 'rates as text',
    poison: (good) => withRates(good, (rates) => mapRates(rates, String)),
  },
  {
    name: 'markup in place of codes',
    poison: (good) => withRates(good, () => ({ [MARKUP]: 1, '"><img src=x>': 2 })),
  },
  {
    name: 'markup in place of rates',
    poison: (good) => withRates(good, (rates) => mapRates(rates, () => MARKUP)),
  },
  {
    name: 'nineteen codes and no days',
    poison: (good) =>
      withRates(good, (rates) =>
        good.data.table ? Object.fromEntries(Object.entries(rates).slice(0, 19)) : {},
      ),
  },
  {
    name: 'lists in place of rates',
    poison: (good) => withRates(good, () => [1, 2]),
  },
  {
    name: 'another source',
    poison: (good) => withSource(good, { name: MARKUP, url: `https://${NONCE}.example` }),
  },
  {
    name: 'the right source with another address',
    poison: (good) => withSource(good, { ...good.data.attribution, url: `javascript:${NONCE}` }),
  },
  { name: "another key's value", poison: (good) => ({ ...good, key: `${good.key}:${NONCE}` }) },
  { name: 'no data', poison: (good) => ({ ...good, data: undefined }) },
  { name: 'no time of saving', poison: (good) => ({ ...good, savedAt: null }) },
]

/** An envelope that nothing is wrong with, of what was published a minute ago. */
export function fabricated(key: string, { upstream, machine }: World): Envelope {
  const savedAt = machine.now() - 60_000
  if (key.endsWith('latest')) {
    const table = toLatestTruth(upstream.latest(savedAt))
    const data = { attribution: LATEST_SOURCE, table: { ...table, base: 'USD' } }
    return { v: 1, key, savedAt, data }
  }
  const today = new Date(savedAt).toISOString().slice(0, 10)
  const { rates } = upstream.history('2000-01-01', today, savedAt)
  const days = Object.entries(rates).map(([date, day]) => ({ date, rates: day }))
  const data = { attribution: HISTORY_SOURCE, start: '2021-01-01', base: 'EUR', days }
  return { v: 1, key, savedAt, data }
}

function withRates(good: Envelope, change: (rates: Record<string, unknown>) => object): object {
  const { table, days, ...data } = good.data
  if (table) return { ...good, data: { ...data, table: { ...table, rates: change(table.rates) } } }
  const changed = days?.map(({ date, rates }) => ({ date, rates: change(rates) }))
  return { ...good, data: { ...data, days: changed } }
}

function withSource(good: Envelope, attribution: Envelope['data']['attribution']): object {
  return { ...good, data: { ...good.data, attribution } }
}

function mapRates(
  rates: Record<string, unknown>,
  change: (rate: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(rates).map(([code, rate]) => [code, change(rate)]))
}
