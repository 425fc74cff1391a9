import type { HistoryDays, HistoryProvider, LatestProvider, LatestTable } from '../../src/index.ts'
import { fakeClock, fakeProviders } from '../../src/testing/index.ts'
import type { FakeClock, ProviderContractOptions } from '../../src/testing/index.ts'

type Fetch = typeof fetch

/** How a provider reads its upstream; `good` is the text of a good answer. */
export type Client = (fetch: Fetch, good: string) => Fetch

/** What one provider does otherwise than a good one. */
export interface Change {
  attribution?: { name: string; url: string }
  /** Makes what it reads its upstream with. */
  client?: Client
  /** Meddles with what it is given. */
  meddle?(given: object): void
  /** What it makes of a good table. */
  table?(table: LatestTable, previous: LatestTable | undefined): LatestTable
  validateStored?: NonNullable<LatestProvider['validateStored']>
  /** What it makes of good days. */
  days?(
    days: HistoryDays,
    range: { start: string; end: string },
  ): HistoryDays | Promise<HistoryDays>
}

const clock: FakeClock = fakeClock('2026-11-20T18:00:00Z')

const market = fakeProviders({ now: clock })

const attribution = { name: 'Our treasury', url: 'https://treasury.example' }

const context = { fetch, signal: new AbortController().signal, now: clock }

const MONTH = { start: '2026-10-21', end: '2026-11-20' }

/** A good provider of latest rates, the documentation's, but for what is changed. */
export async function latestTrial(change: Change = {}): Promise<ProviderContractOptions> {
  const { rates } = await market.latest.fetchLatest(context)
  const good = JSON.stringify({ published: '2026-11-20T16:00:00Z', usd: rates })
  return { now: clock, latest: () => treasury(change, good), fetch: () => new Response(good) }
}

/** A good provider of history, but for what is changed. */
export async function historyTrial(change: Change = {}): Promise<ProviderContractOptions> {
  const textOf = async (range: typeof MONTH): Promise<string> =>
    JSON.stringify(await market.history.fetchHistory(range, context))
  const good = await textOf(MONTH)
  return {
    now: clock,
    history: () => archive(change, good),
    async fetch({ url }) {
      const { searchParams } = new URL(url)
      const [start, end] = [searchParams.get('start') ?? '', searchParams.get('end') ?? '']
      return new Response(await textOf({ start, end }))
    },
  }
}

function treasury(change: Change, good: string): LatestProvider {
  const { client = (fetch) => fetch, meddle = () => {}, table = (each) => each } = change
  // One for the life of the provider: it may remember something.
  let upstream: Fetch = fetch
  const read = client((...request) => upstream(...request), good)
  return {
    attribution,
    ...change,
    async fetchLatest(context) {
      upstream = context.fetch
      const response = await read('https://treasury.example/rates.json', { signal: context.signal })
      if (!response.ok) throw new Error(`treasury answered ${response.status}`)
      const { published, usd } = await response.json()
      const updatedAt = Date.parse(published)
      meddle(context)
      const answer = { base: 'USD', updatedAt, nextUpdateAt: updatedAt + 3_600_000, rates: usd }
      return table(answer, context.previous)
    },
  }
}

function archive(change: Change, good: string): HistoryProvider {
  const { client = (fetch) => fetch, meddle = () => {}, days = (each) => each } = change
  let upstream: Fetch = fetch
  const read = client((...request) => upstream(...request), good)
  return {
    attribution,
    ...change,
    async fetchHistory(range, context) {
      upstream = context.fetch
      const query = new URLSearchParams(range)
      const url = `https://archive.example/days?${query}`
      const response = await read(url, { signal: context.signal })
      if (!response.ok) throw new Error(`archive answered ${response.status}`)
      const { base, days: found } = await response.json()
      const asked = { ...range }
      meddle(context)
      meddle(range)
      return days({ base, days: [...found] }, asked)
    },
  }
}
